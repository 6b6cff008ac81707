"""Does one piece of work in a process that may take only so much time and memory, and ends with it.

python -m profet.web.hard_work BYTES SECONDS, with a question in JSON, a line break and a file on standard input;
the answer in JSON goes to standard output.
"""

import contextlib
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from profet.errors import InputError, ProfetError
from profet.partition.tables import PerformanceTable
from profet.profiles.formats import Reading, ReadOptions, read_stream

_MOST_FILE_BYTES = 512 * 1024 * 1024


class ReadQuestion(msgspec.Struct, frozen=True, tag="read"):
    """Read a profile from the file that follows.

    Args:
        where: what errors call it.
        options: what to read of it.
    """

    where: str
    options: ReadOptions


class TableQuestion(msgspec.Struct, frozen=True, tag="table"):
    """Read a performance table of the original from the pickle that follows.

    Args:
        where: what errors call it.
        network: that it is of.
    """

    where: str
    network: str

    def table(self, content: bytes) -> PerformanceTable:
        """Return the table.

        Raises:
            InputError: see import_original.
        """
        from profet.partition.original_tables import import_original

        with tempfile.NamedTemporaryFile() as file:
            Path(file.name).write_bytes(content)
            try:
                table = import_original(file.name, self.network)
            except InputError as error:
                raise InputError(str(error).replace(file.name, self.where)) from None
        return msgspec.structs.replace(table, source=f"imported from {self.where}")


class PlanQuestion(msgspec.Struct, frozen=True, tag="plan"):
    """Plan a batch; see profet.partition.planners.

    Args:
        table: of the units to use.
        batch: images to split.
        algorithm: a planner's name.
        all_subsets: whether every combination of units is planned, too.
    """

    table: PerformanceTable
    batch: int
    algorithm: str
    all_subsets: bool

    def facts(self) -> dict[str, Any]:
        """Return the plan in the form that ``profet partition plan --json`` documents.

        Raises:
            InputError: see Planner and all_subsets.
        """
        from profet.partition.planners import Planner, all_subsets
        from profet.reports.partition_tables import plan_facts

        made = Planner(self.table, self.algorithm).plan(self.batch)
        return plan_facts(made, all_subsets(self.table, self.batch, self.algorithm) if self.all_subsets else None)


class Answer(msgspec.Struct, frozen=True):
    """What came out: one of these.

    Args:
        reading: of the file.
        table: of the file.
        plan: as facts.
        error: why there is none of them.
    """

    reading: Reading | None = None
    table: PerformanceTable | None = None
    plan: dict[str, Any] | None = None
    error: str = ""


def limit(most_bytes: int, most_seconds: float) -> None:
    """Let the system end this process where it wants more; nothing is limited where the system cannot."""
    try:
        import resource
    except ImportError:
        return
    seconds = math.ceil(most_seconds)
    for what, most in (
        (resource.RLIMIT_AS, most_bytes),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, _MOST_FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(what, (most, most))


Question = ReadQuestion | TableQuestion | PlanQuestion


def _answer(question: Question) -> Answer:
    try:
        if isinstance(question, PlanQuestion):
            return Answer(plan=question.facts())
        if isinstance(question, TableQuestion):
            return Answer(table=question.table(sys.stdin.buffer.read()))
        return Answer(read_stream(sys.stdin.buffer, question.where, question.options))
    except ProfetError as error:
        return Answer(error=str(error))


def main() -> None:
    """Do the work, and answer; no answer where the memory does not suffice."""
    limit(int(sys.argv[1]), float(sys.argv[2]))
    question = msgspec.json.decode(sys.stdin.buffer.readline(), type=Question)
    with contextlib.suppress(MemoryError):
        sys.stdout.buffer.write(msgspec.json.encode(_answer(question)))


if __name__ == "__main__":
    main()
