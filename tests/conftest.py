"""What several tests stand on: the public data where it is, small data made up here, and whole commands."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pytest

from profet.datasets.dataset import Dataset
from tests.command_server import CommandServer

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("PROFET_TEST_DATA", REPOSITORY.parent / "shared" / "data"))

PATIENCE_S = 300

Run = Callable[..., subprocess.CompletedProcess[str]]


def skip_unless_ci(lacking: str) -> NoReturn:
    """Skip a test for what this machine lacks; fail it in CI, which has all of it (PROFET_CI)."""
    __tracebackhide__ = True  # the test that lacks it is named, not this line
    if os.environ.get("PROFET_CI"):
        pytest.fail(f"{lacking} (PROFET_CI is set: it must be there)", pytrace=False)
    pytest.skip(lacking)


@pytest.fixture(scope="session")
def public_profet() -> Path:
    """The folder with the public PROFET data, read in place."""
    folder = DATA / "profet"
    if not folder.is_dir():
        pytest.skip(f"the public PROFET data is not in {folder}; set PROFET_TEST_DATA to where it is")
    return folder


@pytest.fixture(scope="session")
def partition_tables() -> Path:
    """The folder with the original's published performance tables, read in place."""
    folder = DATA / "partition-tables"
    if not folder.is_dir():
        pytest.skip(f"the published tables are not in {folder}; set PROFET_TEST_DATA to where they are")
    return folder


@pytest.fixture(scope="session")
def public_dataset(public_profet: Path) -> Dataset:
    """The public PROFET data, imported."""
    from profet.datasets.families import FamilyTable
    from profet.datasets.public_profet import import_profet

    return import_profet(public_profet, FamilyTable.load())[0]


def made_up_runs(models: int = 4, repeats: int = 2) -> pd.DataFrame:
    """Runs of models named VGG1, ResNet2, ... on instances a.large (with profiles), b.large and c.large."""
    rows = []
    names = [f"{('VGG', 'ResNet', 'Inception', 'Odd')[i % 4]}{i}" for i in range(models)]
    for i, model in enumerate(names):
        for pixels in (32, 64, 128, 224, 256):
            for batch in (16, 32, 64, 128, 256):
                work = (1 + i) * batch * (pixels / 64) ** 2
                for repeat in range(repeats):
                    for instance, factor in (("a.large", 1.0), ("b.large", 0.5), ("c.large", 2.0)):
                        rows.append(
                            {
                                "experiment": f"exp{repeat + 1:02d}",
                                "instance": instance,
                                "model": model,
                                "family": model.rstrip("0123456789"),
                                "optimizer": "SGD",
                                "pixels": pixels,
                                "batch_size": batch,
                                "steps": 2 if instance == "a.large" else 0,
                                "step_latency_ms": factor * (2 + 0.01 * work) * (1 + 0.01 * repeat),
                                "epoch_latency_s": np.nan,
                            }
                        )
    return pd.DataFrame(rows)


@pytest.fixture(scope="session")
def small_dataset() -> Dataset:
    """A data set small enough to train on in a second; only a.large has profiles."""
    runs = made_up_runs()
    busy_us = (runs["step_latency_ms"] - 1.0) * 1000
    profiled = runs["steps"] > 0
    device = pd.DataFrame({"Conv2D": 0.7 * busy_us, "MatMul": 0.3 * busy_us, "IDLE": 1000.0}).where(profiled)
    host = pd.DataFrame({"IDLE": 900.0, "Dataset": 100.0}, index=runs.index).where(profiled)
    return Dataset(runs, host, device, ("made up in the tests",))


@pytest.fixture(scope="session")
def small_dataset_path(small_dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("small") / "small.dataset"
    small_dataset.save(path)
    return path


@pytest.fixture(scope="session")
def command_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandServer]:
    """What starts commands quickly."""
    with CommandServer(tmp_path_factory.mktemp("commands")) as server:
        yield server


@pytest.fixture(scope="session")
def profet(command_server: CommandServer) -> Run:
    """Run the command ``profet`` in a process of its own, as a user does."""

    def run(
        *arguments: object,
        stdin: bytes | str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        **options: Any,
    ) -> subprocess.CompletedProcess[str]:
        words = [str(word) for word in arguments]
        given = stdin.encode("utf-8", "surrogateescape") if isinstance(stdin, str) else stdin or b""
        environment = os.environ if env is None else env
        folder = str(cwd or Path.cwd())
        if not options and command_server.can_run(environment):
            ran = command_server.run(words, given, environment, folder, PATIENCE_S)
        else:
            command = [sys.executable, "-m", "profet", *words]
            options |= {"env": environment, "cwd": folder, "timeout": PATIENCE_S, "check": False}
            ran = subprocess.run(command, input=given, capture_output=True, **options)
        out, err = (stream.decode("utf-8", "surrogateescape") for stream in (ran.stdout, ran.stderr))
        return subprocess.CompletedProcess(ran.args, ran.returncode, out, err)

    return run


def refused(result: subprocess.CompletedProcess[str], *words: str) -> str:
    """Check that a command ended with exit 2 and one clear line that holds the words; return the line."""
    assert result.returncode == 2, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    for word in words:
        assert word in lines[0], lines[0]
    assert result.stdout == ""
    return lines[0]


def document(result: subprocess.CompletedProcess[str]) -> Any:
    """Return the JSON document of a command that went well and printed nothing else."""
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)
