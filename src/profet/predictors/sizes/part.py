"""What a bundle keeps to answer for other sizes: moves by anchor, and how wrong they were on models left out."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import msgspec
import numpy.typing as npt

from profet.predictors.manifest import MeasuredError
from profet.predictors.measured import Measured
from profet.predictors.sizes.moves import SizeMoves
from profet.predictors.sizes.profile_growth import MOVE_DOUBTS
from profet.predictors.state import State, below, checked

PART = "sizes"


@dataclass(frozen=True)
class LearntSizes:
    """Sizes of the workloads that moves were learnt from: smallest and largest batch, and pixels."""

    batch_size: tuple[int, int]
    pixels: tuple[int, int]


@dataclass(frozen=True)
class AnchorSizes:
    """How profiles on one anchor move to other sizes.

    Args:
        moves: of the profile.
        learnt: sizes of the workloads behind it.
        measured: by target, the anchor itself among them, errors and calibrations of latencies at other sizes.
    """

    moves: SizeMoves
    learnt: LearntSizes
    measured: Mapping[str, Measured] = field(default_factory=dict)

    def to_state(self) -> State:
        """Return what a bundle keeps."""
        state = self.moves.to_state()
        settings = {**state.settings, "learnt": asdict(self.learnt), "targets": {}}
        arrays = dict(state.arrays)
        for place, (target, measured) in enumerate(sorted(self.measured.items())):
            settings["targets"][target] = {"place": place, "errors": [asdict(each) for each in measured.errors]}
            arrays |= {f"target{place}/{name}": array for name, array in measured.calibration_arrays().items()}
        return State(settings, arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild.

        Raises:
            KeyError, TypeError, ValueError: the state is not ours.
        """
        settings = state.settings
        measured = {
            str(target): Measured(
                tuple(msgspec.convert(kept["errors"], list[MeasuredError])),
                Measured.calibrations_from(below(state.arrays, f"target{int(kept['place'])}/")),
            )
            for target, kept in settings["targets"].items()
        }
        for calibration in (each for known in measured.values() for each in known.calibrations.values()):
            checked(vars(calibration), "weights", (MOVE_DOUBTS,))
        learnt = msgspec.convert(settings["learnt"], LearntSizes)
        return cls(SizeMoves.from_state(settings, state.arrays), learnt, measured)


def sizes_state(anchors: Mapping[str, AnchorSizes]) -> State:
    """Return the part of a bundle that answers for other sizes, from what was learnt on each anchor."""
    settings: dict[str, Any] = {}
    arrays: dict[str, npt.NDArray[Any]] = {}
    for place, (anchor, each) in enumerate(sorted(anchors.items())):
        state = each.to_state()
        settings[anchor] = {**state.settings, "place": place}
        arrays |= {f"anchor{place}/{name}": array for name, array in state.arrays.items()}
    return State(settings, arrays)


def moves_prefix(settings: Mapping[str, Any], anchor: str, target: str) -> str | None:
    """Return where the part keeps what was measured of moves to one target; None where nothing was.

    Args:
        settings: of the part.
        anchor: the instance that is profiled.
        target: the instance asked about.
    """
    try:
        known = settings[anchor]
        return f"anchor{int(known['place'])}/target{int(known['targets'][target]['place'])}/"
    except (KeyError, TypeError, ValueError):
        return None


def anchor_sizes(part: State, anchor: str) -> AnchorSizes | None:
    """Return what the part knows of an anchor; None where it knows nothing.

    Raises:
        KeyError, TypeError, ValueError: the part is not ours.
    """
    if anchor not in part.settings:
        return None
    settings = part.settings[anchor]
    return AnchorSizes.from_state(State(settings, below(part.arrays, f"anchor{int(settings['place'])}/")))
