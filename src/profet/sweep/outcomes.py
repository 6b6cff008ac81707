"""What came of a run: a measurement, or why there is none."""

from dataclasses import dataclass
from typing import Literal

import msgspec

MEASURED, NOISY, MEMORY, FAILED = "measured", "noisy", "memory", "failed"


class Note(msgspec.Struct, frozen=True):
    """Why there is no measurement of a workload on a machine, or of one run where the machine was too noisy."""

    kind: Literal["noisy", "memory", "failed"]
    text: str


@dataclass(frozen=True)
class Outcome:
    """What came of a run.

    Args:
        kind: MEASURED, NOISY, MEMORY or FAILED.
        profile: JSON of the profile; empty unless measured.
        note: why there is none.
        machine: what ran it: processor or GPU, version of PyTorch.
    """

    kind: str
    profile: str = ""
    note: str = ""
    machine: str = ""
