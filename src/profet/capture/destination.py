"""Where a captured profile goes, and what is said of it there."""

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from profet.capture.recording import Recording
from profet.capture.stability import spread
from profet.errors import InputError
from profet.files import check_output, write_whole

if TYPE_CHECKING:
    from profet.profiles.reading import Reading


@dataclass(frozen=True)
class Captured:
    """A profile that was captured, with the steps of its trace.

    Args:
        reading: the profile and the steps that were profiled.
        overhead: how much longer a profiled step took than a timed one, as a share of it.
    """

    reading: "Reading"
    overhead: float

    def lines(self, path: str | Path) -> list[str]:
        """Say in a line what was written, and in one more each what makes it doubtful."""
        profile = self.reading.profile
        samples = profile.latency_samples_ms
        known = [f"batch {profile.batch_size}"] if profile.batch_size else []
        known += [f"{profile.pixels} pixels"] if profile.pixels else []
        return [
            f"wrote {path}: {statistics.median(samples):.4g} ms a step ({len(samples)} timed,"
            f" {100 * spread(samples):.0f} % apart; {profile.steps} profiled at {100 * self.overhead:+.0f} %)"
            + "".join(f", {each}" for each in known),
            *(f"warning: {warning}" for warning in profile.warnings),
        ]


@dataclass(frozen=True)
class Destination:
    """A file for a profile, and what its user knows of it; they win over what was captured.

    Args:
        path: of the file.
        instance: machine type that the training runs on.
        batch_size: samples per step.
        pixels: width and height of the input.
        force: overwrite an existing file.

    Raises:
        OutputError: the file could not be written there.
        InputError: a size that cannot be.
    """

    path: str | Path
    instance: str | None = None
    batch_size: int | None = None
    pixels: int | None = None
    force: bool = False

    def __post_init__(self) -> None:
        check_output(self.path, self.force)
        for name, size in (("batch size", self.batch_size), ("pixels", self.pixels)):
            if size is not None and size < 1:
                raise InputError(f"{name} of {size}: must be 1 or more")

    def save(self, recording: Recording, folder: Path) -> Captured:
        """Make a profile of a recording and the trace beside it, and write it.

        Raises:
            InputError: the trace holds what no profile can.
            OutputError: the disk refused.
        """
        from profet.capture.composing import compose

        captured = compose(recording, folder, self.instance, self.batch_size, self.pixels)
        write_whole(self.path, captured.reading.profile.to_json().encode(), self.force)
        return captured
