"""What a sweep has done so far: a folder with a whole file for each run, so that it can be stopped at any time."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import msgspec

from profet.errors import InputError, OutputError
from profet.files import read_bounded, reason, write_whole
from profet.profiles.formats.json_documents import parse
from profet.profiles.profile import Profile
from profet.sweep.lock import alone
from profet.sweep.outcomes import FAILED, MEASURED, MEMORY, NOISY, Note, Outcome
from profet.sweep.request import SCHEMA, Request, Run
from profet.sweep.workloads import Workload

_REQUEST, _MACHINES, _NOTES = "request.json", "machines", "notes"
_MOST_BYTES = 16 * 2**20


class Parts:
    """The folder beside the data set to be.

    A run that is done is a profile, as any command takes it. Notes tell why there is none.

    Args:
        folder: made where it is missing.
        request: that the runs belong to.

    Raises:
        InputError: it holds runs of another request, or what is no sweep's.
        OutputError: it cannot be made.
    """

    def __init__(self, folder: Path, request: Request) -> None:
        self.folder, self._request = folder, request
        self._by_batch: dict[tuple[str, int, str], list[Workload]] = {}
        for each in sorted(request.workloads, reverse=True):
            self._by_batch.setdefault(_but_batch(each), []).append(each)
        self._check()

    @classmethod
    def beside(cls, output: str | Path, request: Request) -> "Parts":
        """Return those of the data set at this path."""
        return cls(Path(f"{output}.parts"), request)

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """Make the folder, keep what is asked in it, and keep other sweeps out while this one is at it.

        Raises:
            InputError, OutputError: as when this was made; or it cannot be made, or another sweep is at it.
        """
        with contextlib.ExitStack() as stack:
            try:
                self.folder.mkdir(exist_ok=True)
                stack.enter_context(alone(self.folder))
                self._check()
                self._begin()
            except OSError as error:
                raise OutputError(f"{self.folder}: cannot be written ({reason(error)})") from None
            yield

    def _begin(self) -> None:
        for left in self.folder.glob(".*.part"):  # of a sweep that was killed
            left.unlink(missing_ok=True)
        text = json.dumps(self._request.to_document(), indent=1)
        write_whole(self.folder / _REQUEST, text.encode(), force=True)
        for folder in (self.folder / _NOTES, self.folder / _MACHINES):
            folder.mkdir(exist_ok=True)

    def has(self, run: Run) -> bool:
        """Whether a run was measured."""
        return self._profile(run).exists()

    def profile(self, run: Run) -> Profile:
        """Read what a run measured.

        Raises:
            InputError: the file was damaged.
        """
        path = self._profile(run)
        try:
            document = parse(read_bounded(path, _MOST_BYTES, "profile"), str(path))
            profile = Profile.from_document(document if isinstance(document, dict) else {}, str(path))
        except InputError as error:
            raise InputError(f"{error}; remove it, and the same command measures it again") from None
        workload = run.workload
        stated = (profile.instance, profile.batch_size, profile.pixels)
        if stated != (run.instance, workload.batch_size, workload.pixels) or profile.step_latency_ms is None:
            raise InputError(f"{path}: is not of this run; remove it, and the same command measures it again")
        return profile

    def note(self, run: Run) -> Note | None:
        """Return why there is no measurement of a run; None where that is not known.

        What did not fit in memory does not with a larger batch.
        """
        noisy = self._read_note(self._note(run, NOISY))
        if noisy is not None:
            return noisy
        for each in self._smaller(run.workload):
            note = self._read_note(self._note(Run(run.experiment, run.instance, each), FAILED))
            if note is not None and each == run.workload:
                return note
            if note is not None and note.kind == MEMORY:
                return Note(MEMORY, f"a batch of {each.batch_size} did not fit in memory there")
        return None

    def keep(self, run: Run, outcome: Outcome) -> None:
        """Write what came of a run; it appears whole.

        Raises:
            OutputError: the disk refused.
            InputError: the machine is not the one that measured this instance before.
        """
        if outcome.machine:
            self.check_machine(run.instance, outcome.machine)
        if outcome.kind == MEASURED:
            write_whole(self._profile(run), outcome.profile.encode(), force=True)
            self._note(run, NOISY).unlink(missing_ok=True)
        else:
            text = msgspec.json.encode(Note(outcome.kind, outcome.note))  # type: ignore[arg-type]
            write_whole(self._note(run, outcome.kind), text, force=True)

    def forget_notes(self, kinds: tuple[str, ...] = (NOISY, MEMORY, FAILED)) -> None:
        """Remove the notes of these kinds, so that what they tell of is tried again."""
        for path in (self.folder / _NOTES).glob("*.json"):
            note = self._read_note(path)
            if note is not None and note.kind in kinds:
                path.unlink(missing_ok=True)

    def machine(self, instance: str) -> str | None:
        """Return what measured an instance; None where nothing did."""
        path = self.folder / _MACHINES / f"{instance}.txt"
        return path.read_text("utf-8", errors="replace").strip() if path.exists() else None

    def check_machine(self, instance: str, machine: str) -> None:
        """Keep what measures an instance.

        Raises:
            InputError: it was another before.
        """
        before = self.machine(instance)
        if before is None:
            write_whole(self.folder / _MACHINES / f"{instance}.txt", f"{machine}\n".encode(), force=True)
        elif before != machine:
            raise InputError(
                f"{self.folder}: instance {instance} was measured on {before}, and this is {machine}; go on there,"
                " or give this one its own name and output (profet dataset merge puts them together)"
            )

    def _check(self) -> None:
        if self.folder.exists() and not self.folder.is_dir():
            raise OutputError(f"{self.folder}: is no folder; the parts of a sweep go there: name another output")
        path = self.folder / _REQUEST
        if not path.exists():
            if self.folder.exists() and any(not each.name.endswith(".part") for each in self.folder.iterdir()):
                raise OutputError(f"{self.folder}: holds something else than a sweep; name another output")
            return
        kept = parse(read_bounded(path, _MOST_BYTES, "request of a sweep"), str(path))
        if not isinstance(kept, dict) or kept.get("schema") != SCHEMA:
            raise InputError(f"{path}: is of another version of Profet; name another output")
        other = self._request.differs_in(kept)
        if other is not None:
            raise InputError(
                f"{self.folder}: holds runs of a sweep that asked for other {other}; ask as it did to go on, or"
                " name another output (profet dataset merge puts them together)"
            )

    def _smaller(self, workload: Workload) -> list[Workload]:
        """Return the workloads that differ in their batch and are no larger, the largest first."""
        return [each for each in self._by_batch[_but_batch(workload)] if each.batch_size <= workload.batch_size]

    def _profile(self, run: Run) -> Path:
        return self.folder / f"{run.name}.json"

    def _note(self, run: Run, kind: str) -> Path:
        """Return where a note lies: of the one run where the machine was noisy, else of all repeats."""
        name = run.name if kind == NOISY else run.name.removeprefix(f"{run.experiment}_")
        return self.folder / _NOTES / f"{name}.json"

    def _read_note(self, path: Path) -> Note | None:
        if not path.exists():
            return None
        try:
            return msgspec.json.decode(read_bounded(path, _MOST_BYTES, "note"), type=Note)
        except msgspec.DecodeError as error:
            raise InputError(f"{path}: damaged ({error}); remove it") from None


def _but_batch(workload: Workload) -> tuple[str, int, str]:
    return workload.model, workload.pixels, workload.optimizer
