"""Which program runs a batch: the one for any size, or one that was tuned for a size; whichever is faster."""

from time import perf_counter
from typing import Any

import numpy as np

from profet.partition.networks.network import Network
from profet.partition.tuning.lowering import lower
from profet.partition.tuning.programs import Program, build
from profet.partition.tuning.records import TuningRecords

_TRIES = 3


class Programs:
    """The programs of one network on one device, compiled when they are first needed.

    Attributes:
        device: where they run.
    """

    def __init__(self, network: Network, target: Any, device: Any) -> None:
        self.device = device
        self._network, self._target = network, target
        self._records = TuningRecords.of(target)
        self._tuned_batches = self._records.summary().batches
        self._tuned: dict[int, Program] = {}
        self._chosen: dict[int, Program] = {}
        self._any: Program | None = None
        try:
            self._lowered = lower(network, target, None)
        except NotImplementedError:  # an operator that TVM lacks, whatever the size
            raise
        except Exception:
            # Some networks need to know the batch, such as those that reshape by a constant.
            self._lowered = None
            lower(network, target, 1)

    def prepare(self, batch: int) -> None:
        """Compile what may run a batch, and choose."""
        if batch in self._tuned_batches and batch not in self._tuned:
            lowered = lower(self._network, self._target, batch)
            if self._records.applies_to(lowered, self._target):
                self._tuned[batch] = Program(build(lowered, self._target, self._records), self.device, batch)
                for size in [each for each in self._chosen if each < batch]:
                    self._chosen[size] = self._fastest(size)  # now, not in the middle of a batch
                self._chosen.pop(batch, None)
        if batch not in self._chosen:
            self._chosen[batch] = self._fastest(batch)

    def of(self, batch: int) -> Program:
        """Return the program for a batch; one that was not prepared gets its program now."""
        if batch not in self._chosen:
            self.prepare(batch)
        return self._chosen[batch]

    def _fastest(self, batch: int) -> Program:
        candidates = [program for size, program in sorted(self._tuned.items()) if size >= batch][:1]
        candidates.append(self._untuned(batch))
        if len(candidates) == 1:
            return candidates[0]
        return min(candidates, key=lambda program: self._seconds(program, batch))

    def _untuned(self, batch: int) -> Program:
        if self._lowered is None:
            larger = [size for size, program in self._chosen.items() if size >= batch and program.batch == size]
            if larger:
                return self._chosen[min(larger)]
            lowered = lower(self._network, self._target, batch)
            return Program(build(lowered, self._target), self.device, batch)
        if self._any is None:
            self._any = Program(build(self._lowered, self._target), self.device, None)
        return self._any

    def _seconds(self, program: Program, batch: int) -> float:
        import tvm

        given = self._network.input
        images = np.zeros((program.batch or batch, *given.shape), given.dtype)
        tensor = tvm.runtime.tensor(images, self.device)
        times = []
        for _ in range(_TRIES):
            start = perf_counter()
            program.run(tensor)
            times.append(perf_counter() - start)
        return min(times[1:])
