"""Latency at another batch or input size, on other instances and on the anchor itself, from one profile.

The profile is moved to the asked size (see size_moves) and answered for as any other. Over all sizes within reach
the answers are made to rise (see size_surface). The interval is calibrated on moves of models left out, so it holds
both errors: of the move, and of the change of instance.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import msgspec
import numpy as np

from profet.errors import BundleError, InputError
from profet.predictors.answer import Caution
from profet.predictors.bundle import Bundle
from profet.predictors.card import AccuracyCard, TargetPrediction
from profet.predictors.intervals import WIDENED, Calibration, interval_ms
from profet.predictors.manifest import MeasuredError
from profet.predictors.measured import Measured
from profet.predictors.methods import Predictor
from profet.predictors.sizes.growth import growth_terms
from profet.predictors.sizes.part import PART, AnchorSizes, LearntSizes, anchor_sizes
from profet.predictors.sizes.profile_growth import Growth, move_doubts, surface_profiles
from profet.predictors.sizes.sizes import Size, Sizes, check_move
from profet.predictors.sizes.surface import read_surface
from profet.profiles.arrays import FloatArray, ProfileArrays
from profet.profiles.profile import Profile

_FIRST = np.zeros(1, np.intp)


@dataclass(frozen=True)
class Move:
    """A profile on an anchor that is asked about at another size.

    Args:
        anchor: where it was profiled.
        known: what the bundle knows of sizes there.
        profile: the one profile, at its own size.
        profiled: its own size.
        asked: the size asked about.
        doubtful: whether latency or length of the profile do not fit it.
    """

    anchor: str
    known: AnchorSizes
    profile: ProfileArrays
    profiled: Size
    asked: Size
    doubtful: bool = False

    @cached_property
    def _growth(self) -> Growth:
        return self.known.moves.growth(self.profile, Sizes.of([self.profiled]))

    @property
    def _ratios(self) -> tuple[FloatArray, FloatArray]:
        return Sizes.of([self.profiled]).ratios_to(Sizes.of([self.asked]))

    @cached_property
    def moved(self) -> ProfileArrays:
        """The one profile, at the size asked about."""
        return self._growth.moved(_FIRST, growth_terms(*self._ratios))

    @property
    def cautions(self) -> list[Caution]:
        """What in the two sizes should make one careful."""
        outside = [text for size in (self.profiled, self.asked) for text in _outside(size, self.known.learnt)]
        if not outside:
            return []
        learnt = self.known.learnt
        text = (
            f"{' and '.join(dict.fromkeys(outside))} is outside the sizes that were learnt from"
            f" (batch {learnt.batch_size[0]} to {learnt.batch_size[1]}, {learnt.pixels[0]} to"
            f" {learnt.pixels[1]} px): the error there was never measured and intervals are widened"
        )
        return [Caution(text, unmeasured=True)]

    def over(self, prediction: TargetPrediction, predictor: Predictor | None, level: float) -> TargetPrediction:
        """Return the prediction of the moved profile with the latency and interval that a what-if has.

        Args:
            prediction: for the moved profile.
            predictor: of this anchor → target; None where the target is not the bundle's own.
            level: of the interval.
        """
        latency_ms = prediction.latency_ms
        if predictor is not None:
            own_ms = float(predictor.predict(self.profile)[0])
            latency_ms = float(
                read_surface(predictor.predict(surface_profiles(self._growth, 0)), own_ms, *self._ratios)[0]
            )
        scale = latency_ms / prediction.latency_ms
        families = tuple(replace(each, target_ms=scale * each.target_ms) for each in prediction.card.families)
        measured = self.known.measured.get(prediction.target, Measured())
        card = replace(
            prediction.card, families=families, model_left_out=self._error(measured), family_left_out=None
        )
        made = replace(prediction, latency_ms=latency_ms, card=card)
        return self._with_interval(made, prediction, level)

    def on_anchor(self, level: float) -> TargetPrediction:
        """Return the latency at the size asked about on the anchor itself."""
        latency_ms = float(self._growth.step_ms(_FIRST, growth_terms(*self._ratios))[0])
        measured = self.known.measured.get(self.anchor, Measured())
        card = AccuracyCard(self._error(measured), None, {}, (), (), None, self.doubtful)
        made = TargetPrediction(self.anchor, latency_ms, None, None, None, card)
        return self._with_interval(made, made, level)

    @property
    def _latency_known(self) -> bool:
        return not np.isnan(self.profile.step_latency_ms[0])

    def _error(self, measured: Measured) -> MeasuredError | None:
        return next((each for each in measured.errors if each.latency_known == self._latency_known), None)

    def _with_interval(self, made: TargetPrediction, plain: TargetPrediction, level: float) -> TargetPrediction:
        own = self._calibration(made.target)
        calibration = own or self._calibration(self.anchor)
        if calibration is None or (own is None and plain.low_ms is None):
            return replace(made, low_ms=None, high_ms=None, interval=None)
        sizes = (Sizes.of([self.profiled]), Sizes.of([self.asked]))
        doubts = move_doubts(self._growth, *sizes, _FIRST)
        widened = plain.card.widened or bool(self.cautions)
        factor = WIDENED if widened else 1.0
        size = factor * float(calibration.expected_error(doubts)[0])
        expected: float | None = size
        half_width = factor * float(calibration.half_width(doubts, level)[0])
        if own is None and plain.low_ms is not None:  # errors of the instance and of the move, measured apart
            half_width = float(np.hypot(half_width, np.log(plain.latency_ms / plain.low_ms)))
            alone = plain.card.expected_log_error  # from data sheets none is told, and so none is here
            expected = None if alone is None else float(np.hypot(size, alone))
        card = replace(made.card, expected_log_error=expected, widened=widened)
        if np.isnan(half_width):
            return replace(made, low_ms=None, high_ms=None, interval=None, card=card)
        low, high = (float(end[0]) for end in interval_ms(np.array([made.latency_ms]), np.array([half_width])))
        return replace(made, low_ms=low, high_ms=high, interval=level, card=card)

    def _calibration(self, target: str) -> Calibration | None:
        measured = self.known.measured.get(target)
        return None if measured is None else measured.calibrations.get(self._latency_known)


def _outside(size: Size, learnt: LearntSizes) -> list[str]:
    found = []
    if not learnt.batch_size[0] <= size.batch_size <= learnt.batch_size[1]:
        found.append(f"batch {size.batch_size}")
    if not learnt.pixels[0] <= size.pixels <= learnt.pixels[1]:
        found.append(f"{size.pixels} px")
    return found


def with_profiled_size(profile: Profile, batch_size: int | None, pixels: int | None) -> Profile:
    """Return the profile with the size that it was recorded at, where that is told beside it.

    Raises:
        InputError: a size below one.
    """
    for option, value in (("--profiled-batch-size", batch_size), ("--profiled-pixels", pixels)):
        if value is not None and value < 1:
            raise InputError(f"{option} {value}: must be 1 or more")
    told = {"batch_size": batch_size, "pixels": pixels}
    return msgspec.structs.replace(profile, **{name: value for name, value in told.items() if value is not None})


def asked_size(profile: Profile, batch_size: int | None, pixels: int | None) -> tuple[Size, Size] | None:
    """Return the size that was profiled and the one asked about; None where none is asked about, or the same.

    Raises:
        InputError: the profile does not say its own size, or the asked one is out of reach.
    """
    if batch_size is None and pixels is None:
        return None
    missing = [
        option
        for option, own in (("--profiled-batch-size", profile.batch_size), ("--profiled-pixels", profile.pixels))
        if own is None
    ]
    if profile.batch_size is None or profile.pixels is None:
        raise InputError(
            "the profile does not say what size it was recorded at, so nobody can tell how far another is: give"
            f" {' and '.join(missing)}"
        )
    profiled = Size(profile.batch_size, profile.pixels)
    asked = Size(
        profiled.batch_size if batch_size is None else batch_size, profiled.pixels if pixels is None else pixels
    )
    check_move(profiled, asked)
    return None if asked == profiled else (profiled, asked)


def move_to(
    bundle: Bundle, anchor: str, profile: ProfileArrays, sizes: tuple[Size, Size], doubtful: bool = False
) -> Move:
    """Return the move of one profile to another size; doubtful where its latency or length do not fit it.

    Raises:
        InputError: the bundle knows nothing of sizes on this anchor.
        BundleError: its part about sizes is damaged.
    """
    part = bundle.part(PART)
    try:
        known = None if part is None else anchor_sizes(part, anchor)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise BundleError(
            f"{bundle.where}: what it knows of sizes does not load ({error!r}); train it again"
        ) from None
    if known is None:
        raise InputError(
            f"{bundle.where}: knows nothing of other sizes on {anchor}; profile the size that you ask about, or"
            " train again (profet train DATASET -o BUNDLE) on runs of several sizes with the blend method"
        )
    return Move(anchor, known, profile, *sizes, doubtful)
