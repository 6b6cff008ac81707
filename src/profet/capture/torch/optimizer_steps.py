"""Where a training step of PyTorch ends in a loop that does not say so: where the optimizer's step does."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from torch.optim.optimizer import register_optimizer_step_post_hook

from profet.capture.capturing import Capturing
from profet.capture.torch.distributed import is_first_rank

Begin = Callable[[int, tuple[str, ...]], Capturing]

_LEAST_SEEN = 3
_FORGOTTEN_AFTER = 200
"""An optimizer that does not step for so many steps of others is not of this training."""


class Rounds:
    """Tells where a training step ends among the steps of several optimizers: with the one that steps least often.

    Of those that step equally often, it is the one that steps last in a round. It is known once all have stepped
    so many times; when another optimizer comes up, it is to be found again.

    Args:
        warm_up: how many times each optimizer steps before it is known, three at least.
    """

    def __init__(self, warm_up: int) -> None:
        self.leader: int | None = None
        self._warm_up = max(warm_up, _LEAST_SEEN)
        self._counts: Counter[int] = Counter()
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._total = 0

    @property
    def counts(self) -> list[int]:
        """How many times each optimizer of a step has stepped, the most first; while none ends it, of all."""
        since = 0 if self.leader is None else self._first[self.leader]
        return sorted((self._counts[each] for each, last in self._last.items() if last >= since), reverse=True)

    def ends_step(self, optimizer: int) -> bool:
        """Say that an optimizer has stepped; return whether a training step ends with it."""
        if self.is_stranger(optimizer):
            self.leader = None
        self._total += 1
        self._counts[optimizer] += 1
        self._first.setdefault(optimizer, self._total)
        self._last[optimizer] = self._total
        if self.leader is None:
            self._forget()
            if min(self._counts.values()) >= self._warm_up:
                self.leader = min(self._counts, key=lambda each: (self._counts[each], -self._last[each]))
        return optimizer == self.leader

    def is_stranger(self, optimizer: int) -> bool:
        """Whether an optimizer comes up after the leader was chosen."""
        return self.leader is not None and optimizer not in self._counts

    def _forget(self) -> None:
        for other in [each for each, last in self._last.items() if self._total - last > _FORGOTTEN_AFTER]:
            del self._counts[other], self._first[other], self._last[other]


class OptimizerSteps:
    """Watches every optimizer of this process, and counts training steps for a capture.

    Args:
        warm_up: steps that pass before the capture begins.
        begin: begins to capture; is given how many optimizers a step runs, and what had to be assumed.
        fail: is given what went wrong.
    """

    def __init__(self, warm_up: int, begin: Begin, fail: Callable[[str], None]) -> None:
        self._warm_up, self._begin, self._fail = warm_up, begin, fail
        self._rounds = Rounds(warm_up)
        self._capturing: Capturing | None = None
        self._watches = True
        self._handle = register_optimizer_step_post_hook(self._after_step)

    @property
    def steps_seen(self) -> int:
        """How many training steps have ended."""
        if self._capturing is not None:
            return self._capturing.steps_seen
        return min(self._rounds.counts, default=0)

    @property
    def is_over(self) -> bool:
        """Whether the capture has ended, one way or the other."""
        return self._capturing is not None and self._capturing.is_over

    def close(self) -> None:
        """Stop watching, and whatever is not done; not to be called while an optimizer steps."""
        self._handle.remove()
        self._stop()

    def _after_step(self, optimizer: Any, arguments: Any, named: Any) -> None:  # noqa: ARG002 - PyTorch's signature
        if not self._watches:  # PyTorch goes through its hooks just now, so this one cannot be removed
            return
        try:
            self._count(optimizer)
        except Exception as error:  # whatever it is, the training goes on
            self._stop()
            self._fail(f"{type(error).__name__}: {error}")

    def _stop(self) -> None:
        self._watches = False
        if self._capturing is not None:
            self._capturing.abandon()

    def _count(self, optimizer: Any) -> None:
        if self._capturing is None and not is_first_rank():
            self._watches = False
            return
        if self._rounds.is_stranger(id(optimizer)) and self._capturing is not None:
            self._capturing.abandon()
            self._capturing = None
        if not self._rounds.ends_step(id(optimizer)):
            return
        if self._capturing is None:
            self._capturing = self._begin(len(self._rounds.counts), self._notes(optimizer))
        self._capturing.step()
        self._watches = not self._capturing.is_over

    def _notes(self, optimizer: Any) -> tuple[str, ...]:
        counts = self._rounds.counts
        if len(counts) < 2:
            return ()
        steps = ", ".join(str(count) for count in counts[:8])
        kind = type(optimizer)
        name = kind.__name__ if kind.__module__.startswith("torch.") else "one"  # not what the user called it
        return (
            f"{len(counts)} optimizers: a step is taken to end with the {name} that steps"
            f" least often or last (while warming up they stepped {steps} times)",
        )
