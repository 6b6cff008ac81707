"""Runs the README and the documentation as tests: every ``console`` and ``python`` block, output compared.

No test reads or changes what the person who runs it has kept: instances, tables and measurements of their own.
"""

import atexit
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from sybil import Example, Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import CodeBlockParser

_PROMPT = "$ "

_OWN_DATA = tempfile.TemporaryDirectory()
atexit.register(_OWN_DATA.cleanup)
os.environ["PROFET_DATA_DIR"] = _OWN_DATA.name


def _start(namespace: dict[str, Any]) -> None:
    namespace["_folder"] = tempfile.TemporaryDirectory()


def _finish(namespace: dict[str, Any]) -> None:
    namespace["_folder"].cleanup()


def _run_python(example: Example) -> str | None:
    before = Path.cwd()
    os.chdir(example.namespace["_folder"].name)
    try:
        return PythonEvaluator()(example)
    finally:
        os.chdir(before)


def _run_console(example: Example) -> str | None:
    """Run each ``$`` line in the page's own folder; what it prints must be the lines below it."""
    expected: list[tuple[str, list[str]]] = []
    for line in str(example.parsed).splitlines():
        if line.startswith(_PROMPT):
            expected.append((line.removeprefix(_PROMPT), []))
        else:
            expected[-1][1].append(line.rstrip())
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command, lines in expected:
        result = subprocess.run(
            command,
            shell=True,
            cwd=example.namespace["_folder"].name,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        printed = [line.rstrip() for line in result.stdout.splitlines()]
        if printed != lines:
            return f"{command} printed\n" + "\n".join(printed) + "\nbut the page says\n" + "\n".join(lines)
    return None


pytest_collect_file = Sybil(
    parsers=[CodeBlockParser("console", _run_console), CodeBlockParser("python", _run_python)],
    patterns=["README.md", "docs/**/*.md"],
    setup=_start,
    teardown=_finish,
).pytest()
