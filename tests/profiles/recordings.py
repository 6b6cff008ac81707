"""Environments of other frameworks, made once and kept, and what is recorded in them."""

import json
import os
import shutil
import subprocess
import time
import venv
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
PINS = REPOSITORY / "tests" / "environments"
_PATIENCE_S = 1800
_STALE_S = 3600


def python_with(name: str) -> Path:
    """Return the interpreter of an environment with what ``tests/environments/NAME.txt`` pins, made where missing.

    Tests that run at the same time wait for the one that makes it. Without a network the test is skipped, or fails
    in CI.
    """
    folder = Path(os.environ.get("PROFET_TEST_ENVS", REPOSITORY / "build" / "test-envs"))
    pins = (PINS / f"{name}.txt").read_text()
    environment, lock = folder / name, folder / f"{name}.lock"
    folder.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + _PATIENCE_S
    while not _is_ready(environment, pins):
        try:
            lock.mkdir()
        except FileExistsError:
            _wait(lock, deadline)
            continue
        try:
            _make(environment, name, pins)
        finally:
            lock.rmdir()
    return _interpreter(environment)


def _interpreter(environment: Path) -> Path:
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _is_ready(environment: Path, pins: str) -> bool:
    """Whether it was made whole, of the same pins."""
    made = environment / "made-of.txt"
    return made.is_file() and made.read_text() == pins and _interpreter(environment).exists()


def _wait(lock: Path, deadline: float) -> None:
    if time.monotonic() > deadline:
        pytest.skip(f"another run makes the environment beside {lock} for too long; remove it if there is none")
    try:
        if time.time() - lock.stat().st_mtime > _STALE_S:
            lock.rmdir()
    except FileNotFoundError:
        return
    time.sleep(0.5)


def _make(environment: Path, name: str, pins: str) -> None:
    if _is_ready(environment, pins):
        return
    shutil.rmtree(environment, ignore_errors=True)
    venv.create(environment, with_pip=True)
    command = [str(_interpreter(environment)), "-m", "pip", "install", "-q", "-r", str(PINS / f"{name}.txt")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        pytest.skip(f"the {name} environment cannot be installed: {reason[:300]}")
    (environment / "made-of.txt").write_text(pins)


def run(python: Path, script: str, *arguments: object) -> str:
    """Run a script of this folder in an environment; return what it printed."""
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "JAX_PLATFORMS": "cpu"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(python), str(HERE / script), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        env=kept | quiet,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def xprof_sums(python: Path, path: Path) -> dict[str, dict[str, list[float]]]:
    """Return self time in µs and executions by side (Host, Device) and type, as xprof has them of a file."""
    sums: dict[str, Any] = json.loads(run(python, "xprof_sums.py", path).splitlines()[-1])
    return sums
