"""What a sweep was asked for: workloads on machines, so many times each, and how each is captured."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from profet.capture.plan import CapturePlan
from profet.sweep.machines import Machine
from profet.sweep.workloads import Workload

SCHEMA = "profet/sweep/1"
_WORDS = {
    "workloads": "workloads",
    "machines": "instances",
    "repeats": "repeats",
    "steps": "steps",
    "core": "cores",
}


@dataclass(frozen=True, order=True)
class Run:
    """One row of the data set: a workload on a machine, for the n-th time.

    Args:
        experiment: such as "exp01"; rows of one experiment are compared with each other.
        instance: name of the machine.
        workload: what is trained.
    """

    experiment: str
    instance: str
    workload: Workload

    @property
    def name(self) -> str:
        """Its name as a file, and in messages."""
        what = self.workload
        return f"{self.experiment}_{self.instance}_{what.model}_{what.pixels}px_{what.batch_size}_{what.optimizer}"


@dataclass(frozen=True)
class Limits:
    """From where on a capture is no measurement.

    Args:
        waited: share of the time in which the training was ready to run and had no core.
        spread: how far the middle eight tenths of the timed steps reach, as a share of their median.
        tries: how often it is tried before it is given up.
        minutes: after which one capture is ended.
        company: how many cores others may keep busy meanwhile.
    """

    waited: float = 0.2
    spread: float = 0.3
    tries: int = 3
    minutes: float = 60.0
    company: float = math.inf


@dataclass(frozen=True)
class Task:
    """All that a process needs to capture one run, here or on another node.

    Args:
        run: which one.
        machine: that it is measured as.
        plan: which steps of the training go to what.
        core: logical core that it stays on, with one thread; None for all of them.
        limits: from where on it is no measurement.
    """

    run: Run
    machine: Machine
    plan: CapturePlan
    core: int | None
    limits: Limits


@dataclass(frozen=True)
class Request:
    """A sweep.

    Args:
        workloads: each once.
        machines: each once.
        repeats: how many times each workload is captured on each machine, in a process of its own each time.
        plan: see Task.
        core: see Task.
        limits: see Task.
    """

    workloads: tuple[Workload, ...]
    machines: tuple[Machine, ...]
    repeats: int = 3
    plan: CapturePlan = field(default_factory=CapturePlan)
    core: int | None = None
    limits: Limits = field(default_factory=Limits)

    def __len__(self) -> int:
        return len(self.workloads) * len(self.machines) * self.repeats

    def runs(self) -> Iterator[Run]:
        """Yield every run: all of the first repeat, then of the next; a workload on all machines, then the next.

        What is compared with each other is so measured close to each other, and a part of a sweep is balanced.
        """
        for repeat in range(1, self.repeats + 1):
            for workload in self.workloads:
                for machine in self.machines:
                    yield Run(f"exp{repeat:02d}", machine.name, workload)

    def task(self, run: Run) -> Task:
        """Return what a process needs for a run."""
        machine = next(each for each in self.machines if each.name == run.instance)
        return Task(run, machine, self.plan, self.core, self.limits)

    def to_document(self) -> dict[str, Any]:
        """Return what must stay the same for its runs to be put into one data set."""
        machines = [asdict(machine) for machine in self.machines]
        for machine in machines:
            del machine["resource"]  # says where it is measured, not what
        return {
            "schema": SCHEMA,
            "workloads": [asdict(workload) for workload in self.workloads],
            "machines": machines,
            "repeats": self.repeats,
            "steps": asdict(self.plan),
            "core": self.core,
        }

    def differs_in(self, document: Mapping[str, Any]) -> str | None:
        """Return the word for what the document of another request asks for otherwise; None for nothing."""
        own = json.loads(json.dumps(self.to_document()))
        return next((word for key, word in _WORDS.items() if document.get(key) != own[key]), None)
