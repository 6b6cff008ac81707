"""How long a sweep takes: a guess from the work of each network, set right by what was measured already."""

import statistics
from collections.abc import Iterable, Mapping

from profet.sweep.request import Request, Run
from profet.sweep.workloads import Workload

_MS_PER_IMAGE = {
    "LeNet5": 0.8,
    "AlexNet": 239.0,
    "MNIST_CNN": 3.5,
    "CIFAR10_CNN": 9.0,
    "VGG11": 46.0,
    "VGG13": 68.0,
    "VGG16": 86.0,
    "VGG19": 113.0,
    "ResNetSmall": 17.0,
    "ResNet18": 16.0,
    "ResNet34": 31.0,
    "ResNet50": 39.0,
    "InceptionV3": 22.0,
    "InceptionResNetV2": 52.0,
    "MobileNetV2": 10.0,
}
"""A training step over its images, at 64 pixels, on one core with AVX2."""

_MS_OF_WEIGHTS = {"AlexNet": 600.0, "VGG11": 200.0, "VGG13": 200.0, "VGG16": 200.0, "VGG19": 200.0}
"""What layers of 4096 units take of a step, however small the batch is."""

_PIXELS = 64
_START_S = 5.5
"""What a process takes beside its steps: to start, to build the network, and to write the profile."""

_S_PER_MS = 1e-3


def guessed_ms(workload: Workload) -> float:
    """Return a guess of a workload's step on one core, in ms."""
    fixed_ms = _MS_OF_WEIGHTS.get(workload.model, 0.0)
    return fixed_ms + _MS_PER_IMAGE[workload.model] * workload.batch_size * (workload.pixels / _PIXELS) ** 2


class Costs:
    """How long runs take, by the step latencies that were measured so far.

    Args:
        request: the sweep.
    """

    def __init__(self, request: Request) -> None:
        self._steps = request.plan.steps
        self._factors: dict[str, list[float]] = {machine.name: [] for machine in request.machines}

    @property
    def is_guess(self) -> bool:
        """Whether nothing was measured yet."""
        return not any(self._factors.values())

    def learn(self, run: Run, latency_ms: float) -> None:
        """Take in what a step of a run took."""
        self._factors[run.instance].append(latency_ms / guessed_ms(run.workload))

    def seconds(self, runs: Iterable[Run]) -> float:
        """Return how long some runs take, in s."""
        every = [factor for factors in self._factors.values() for factor in factors]
        usual = statistics.median(every) if every else 1.0
        factors = {name: statistics.median(own) if own else usual for name, own in self._factors.items()}
        return sum(self._one(run, factors) for run in runs)

    def _one(self, run: Run, factors: Mapping[str, float]) -> float:
        return _START_S + self._steps * factors[run.instance] * guessed_ms(run.workload) * _S_PER_MS
