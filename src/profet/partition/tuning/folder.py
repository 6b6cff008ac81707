"""The folder of what tuning found for one target: read with suspicion, because schedules become code."""

import contextlib
import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from profet.data_folder import ROOT_VARIABLE
from profet.errors import InputError, OutputError, ProfetError
from profet.files import read_bounded, reason, write_whole

SCHEMA = "profet/tvm-tuning/1"
_WORKLOADS = "database_workload.json"
RECORDS = "database_tuning_record.json"
"""File of schedules; it only grows."""

_SUMMARY = "tuned.json"
_MAX_BYTES = 64 * 2**20
_MAX_LINES = 200_000
_SHARED_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Summary(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was tuned so far for one target.

    Attributes:
        target: what it was compiled for, in TVM's own words.
        tvm_version: TVM's version; schedules of another are not used.
        batches: batch sizes that were tuned, of any network; workloads are shared by networks.
        default_ms: how long each workload takes with the default schedule, by its fingerprint.
    """

    schema: str = SCHEMA
    target: str
    tvm_version: str
    batches: tuple[int, ...] = ()
    default_ms: dict[str, float] = {}

    def __post_init__(self) -> None:
        if self.schema != SCHEMA:
            raise ValueError(f"its schema is {self.schema[:80]!r}; this version of Profet reads {SCHEMA}")


class TuningFolder:
    """A folder of JSON lines, and a summary of them.

    Attributes:
        path: the folder; it need not be there.
    """

    def __init__(self, path: Path, target: str, tvm_version: str) -> None:
        self.path = path
        self._target, self._tvm_version = target, tvm_version

    def summary(self) -> Summary:
        """Return what was tuned; an empty one where nothing was.

        Raises:
            InputError: the files are damaged, or another user could have written them.
        """
        path = self.path / _SUMMARY
        if not path.exists():
            return Summary(target=self._target, tvm_version=self._tvm_version)
        self._check_owner()
        try:
            found = msgspec.json.decode(read_bounded(path, _MAX_BYTES, "tuning summary"), type=Summary)
        except (msgspec.ValidationError, ValueError, RecursionError) as error:
            raise self.damaged(path, str(error)) from None
        if (found.target, found.tvm_version) != (self._target, self._tvm_version):
            raise self.damaged(path, "it is of another target or version")
        return found

    def save(self, summary: Summary) -> None:
        """Write the summary, whole or not at all."""
        make_private(self.path)
        self._write(self.path / _SUMMARY, msgspec.json.encode(summary) + b"\n")

    def checked_files(self) -> tuple[Path, Path]:
        """Return the files of workloads and of records, once it is clear that they are what tuning writes.

        A last line that was cut off, when a tuning was stopped in the middle of writing it, is dropped.

        Raises:
            InputError: they are damaged, too large, or another user could have written them.
        """
        make_private(self.path)
        self._check_owner()
        workloads, records = self.path / _WORKLOADS, self.path / RECORDS
        self._check_lines(records, self._check_lines(workloads, None))
        return workloads, records

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep a second tuning for the same target away.

        Raises:
            ProfetError: one is going on.
        """
        make_private(self.path)
        try:
            import fcntl
        except ImportError:  # Windows
            yield
            return
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ProfetError(
                    "another tuning for the same device is going on; wait for it, or stop it"
                ) from None
            yield
        finally:
            os.close(descriptor)

    def damaged(self, path: Path, why: str) -> InputError:
        """Return the error that says what is wrong with a file, and what to do."""
        return InputError(f"{path}: not what tuning wrote there ({why[:200]}); remove {self.path} and tune again")

    def _check_owner(self) -> None:
        if sys.platform == "win32":
            return
        for path in (self.path, *(self.path / name for name in (_WORKLOADS, RECORDS, _SUMMARY))):
            if not path.exists() and not path.is_symlink():
                continue
            facts = path.lstat()
            if facts.st_uid != os.getuid() or facts.st_mode & _SHARED_WRITE or stat.S_ISLNK(facts.st_mode):
                raise InputError(f"{path}: another user could have written it; remove {self.path} and tune again")

    def _check_lines(self, path: Path, workloads: int | None) -> int:
        """Check that each line is a pair, and a record's first half one of the workloads; return their number."""
        if not path.exists() or not path.stat().st_size:
            return 0
        lines = read_bounded(path, _MAX_BYTES, "tuning database").splitlines(keepends=True)
        if not lines[-1].endswith(b"\n"):
            lines = lines[:-1]
            self._write(path, b"".join(lines))
        if len(lines) > _MAX_LINES:
            raise self.damaged(path, f"more than {_MAX_LINES} lines")
        for number, line in enumerate(lines, 1):
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                raise self.damaged(path, f"line {number} is no JSON") from None
            if not (isinstance(value, list) and len(value) == 2) or not _fits(value[0], workloads):
                raise self.damaged(path, f"line {number} is no entry of it")
        return len(lines)

    def _write(self, path: Path, content: bytes) -> None:
        write_whole(path, content, force=True)
        path.chmod(0o600)


def make_private(folder: Path) -> None:
    """Make a folder that only this user may write to.

    Raises:
        OutputError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        why = f"{folder}: cannot be made ({reason(error)})"
        raise OutputError(f"{why}; {ROOT_VARIABLE} names another place") from None


def _fits(first: object, workloads: int | None) -> bool:
    """Whether the first half of a line is a fingerprint, or the number of a workload."""
    if workloads is None:
        return isinstance(first, str)
    return isinstance(first, int) and not isinstance(first, bool) and 0 <= first < workloads
