"""Member: one unit of a pool, its process and what was learnt of it."""

from dataclasses import dataclass, field

from profet.partition.backends.protocol import OutOfMemoryError, UnitError
from profet.partition.execution.messages import Failed
from profet.partition.execution.run_report import Failure
from profet.partition.execution.worker import UnitLostError, UnitWorker
from profet.partition.units import Unit


@dataclass(slots=True)
class Member:
    """One unit of a pool.

    Attributes:
        unit: what it is.
        worker: its process; None where it is lost.
        warmed: batch sizes that it is warm for.
        recovering: answers that its new process still owes before it can be used.
        restarts: how often it was started again.
        largest_batch: most images that it holds, where that was learnt.
        lost_because: why it is lost.
    """

    unit: Unit
    worker: UnitWorker | None = None
    warmed: set[int] = field(default_factory=set)
    recovering: int = 0
    restarts: int = 0
    largest_batch: int | None = None
    lost_because: Failure | None = None

    @property
    def usable(self) -> bool:
        """Whether it may be given images now."""
        return self.worker is not None and not self.recovering

    def lose(self, failure: Failure) -> None:
        """Give its process up."""
        self.lost_because = failure
        self.warmed.clear()
        self.recovering = 0
        if self.worker is not None:
            self.worker.kill()
            self.worker.close()
            self.worker = None


def hear_warmed(member: Member, worker: UnitWorker, size: int, timeout_s: float) -> Failure | None:
    """Hear that a unit is warm for a size, or learn why it is not; it hangs if it does not answer in time."""
    name = member.unit.name
    try:
        answer = worker.receive(timeout_s, f"when it was warmed up for a batch of {size}")
        if isinstance(answer, Failed):
            raise worker.error(answer)
    except OutOfMemoryError as error:
        known = member.largest_batch
        member.largest_batch = size - 1 if known is None else min(known, size - 1)
        if size > 1:
            return Failure(name, "out of memory", str(error), largest_batch=member.largest_batch)
        member.lose(Failure(name, "out of memory", str(error)))
        return member.lost_because
    except UnitLostError as error:
        member.lose(Failure(name, "hung" if error.hung else "crashed", str(error)))
        return member.lost_because
    except UnitError as error:
        member.lose(Failure(name, "failed", str(error)))
        return member.lost_because
    member.warmed.add(size)
    return None


def hear_recovery(member: Member, worker: UnitWorker, hung: bool = False) -> None:
    """Hear what a unit that was started again has answered so far; it is usable once nothing is owed."""
    try:
        if hung:
            raise UnitError(f"{member.unit.name}: did not start again in time; it was ended")
        while member.recovering and worker.pipe.poll(0):
            answer = worker.receive(0.0)
            if isinstance(answer, Failed):
                raise worker.error(answer)
            member.recovering -= 1
    except (UnitError, OSError) as error:
        member.lose(Failure(member.unit.name, "did not start", str(error)))
        return
    if not member.recovering:
        worker.take_as_ready()
        member.lost_because = None
