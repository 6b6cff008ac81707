"""A new target from one anchor: its predictor, and how wrong it is to be expected."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from profet.errors import BundleError
from profet.evaluation.metrics import absolute_percentage_errors
from profet.evaluation.onboarding.held_out import PART, HeldOut, held_out_of
from profet.evaluation.onboarding.measurements import MeasuredWorkload, known_workloads
from profet.evaluation.onboarding.rehearsal import Rehearsal, Zoo
from profet.predictors.blend import BlendPredictor
from profet.predictors.bundle import Bundle
from profet.predictors.components import Components
from profet.predictors.data_sheets.rates import Rates
from profet.predictors.intervals import Calibration
from profet.predictors.manifest import MeasuredError
from profet.predictors.measured import Measured
from profet.predictors.onboarding.expectation import Sheets
from profet.predictors.onboarding.predictor import OnboardedPredictor
from profet.predictors.onboarding.prior import by_family
from profet.profiles.arrays import FloatArray
from profet.profiles.families import op_families
from profet.quantities import US_PER_MS

_LEFT_OUT, _LEFT_OUT_OF_MANY, _MANY = 20, 5, 50
"""Folds in which measured workloads are left out: at most so many, fewer of more than 50 workloads."""


_FAR = 3.0
"""Times the expected error from which on measured workloads are taken to contradict each other."""


@dataclass(frozen=True)
class OnboardedPair:
    """The new target from one anchor.

    Args:
        anchor: that is profiled.
        predictor: of the new target.
        workloads: how many taught it.
        profiled: how many of them had a profile there too.
        left_out_mape: mean error in percent where each of them is predicted from the others; None for one alone.
        measured: error and calibrations from known targets that were treated as new; empty where a bundle keeps
            nothing to do so with.
        widened: factor on its intervals, in logs: how much more the workloads contradict each other than was to be
            expected, where that is far more; else 1.
    """

    anchor: str
    predictor: OnboardedPredictor
    workloads: int
    profiled: int
    left_out_mape: float | None
    measured: Measured
    widened: float = 1.0

    @property
    def explanation(self) -> str:
        """What it rests on, in a phrase."""
        plural = "workload" if self.workloads == 1 else "workloads"
        profiled = f", {self.profiled} with a profile there" if self.profiled else ""
        sheet = " and its data sheet" if self.predictor.sheets else ""
        rests_on = f"{self.workloads} measured {plural}{profiled}{sheet}"
        return f"from {rests_on}; its error is that of known instances so treated"


def onboard_pair(
    bundle: Bundle, anchor: str, name: str, workloads: Sequence[MeasuredWorkload], rates: Mapping[str, Rates]
) -> OnboardedPair:
    """Learn a new target from one anchor, which knows one of the workloads at least; rehearse it on known targets.

    Args:
        bundle: what is known.
        anchor: that is profiled.
        name: of the new target.
        workloads: what was measured.
        rates: of GPUs whose data sheets state them, by instance.

    Raises:
        BundleError: what the bundle keeps for it is damaged.
    """
    usable = [each for each in workloads if anchor in each.anchors]
    known = bundle.learnt(anchor)
    sheets = Sheets.among(rates, anchor, name, known)
    predictor = _learnt(known, anchor, usable, sheets)
    profiled = sum(each.families_us is not None for each in usable)
    left_out_mape = _left_out_mape(known, anchor, usable, sheets)
    measured = _rehearsed(bundle, anchor, usable, profiled > len(usable) / 2, sheets)
    expected = next((error.mape for error in measured.errors if error.latency_known), None)
    widened = 1.0
    if left_out_mape is not None and expected is not None and left_out_mape > _FAR * expected:
        widened = left_out_mape / expected
    calibrations = {latency: each.widened(widened) for latency, each in measured.calibrations.items()}
    measured = replace(measured, calibrations=calibrations)
    return OnboardedPair(anchor, predictor, len(usable), profiled, left_out_mape, measured, widened)


def _learnt(
    known: Mapping[str, BlendPredictor],
    anchor: str,
    workloads: Sequence[MeasuredWorkload],
    sheets: Sheets | None,
) -> OnboardedPredictor:
    nothing = np.full(len(op_families().device) + 1, np.nan)
    families_us = np.stack([nothing if each.families_us is None else each.families_us for each in workloads])
    latencies_us = np.array([each.latency_ms for each in workloads]) * US_PER_MS
    parts = Components.joined([each.anchors[anchor] for each in workloads])
    names = [each.name for each in workloads]
    return OnboardedPredictor(known, sheets).learn(parts, latencies_us, families_us, names)


def _left_out_mape(
    known: Mapping[str, BlendPredictor],
    anchor: str,
    workloads: Sequence[MeasuredWorkload],
    sheets: Sheets | None,
) -> float | None:
    """Return the mean error in percent of each workload predicted from the others, in a few folds."""
    if len(workloads) < 2:
        return None
    folds = min(_LEFT_OUT if len(workloads) <= _MANY else _LEFT_OUT_OF_MANY, len(workloads))
    errors: list[FloatArray] = []
    for fold in range(folds):
        asked = workloads[fold::folds]
        taught = [each for n, each in enumerate(workloads) if n % folds != fold]
        predictor = _learnt(known, anchor, taught, sheets)
        predicted_us = predictor.step_us(Components.joined([each.anchors[anchor] for each in asked]))
        true_ms = np.array([each.latency_ms for each in asked])
        errors.append(absolute_percentage_errors(true_ms, predicted_us / US_PER_MS))
    return float(np.concatenate(errors).mean())


def _rehearsed(
    bundle: Bundle, anchor: str, workloads: Sequence[MeasuredWorkload], profiled: bool, sheets: Sheets | None
) -> Measured:
    known = bundle.learnt(anchor)
    try:
        held_out = held_out_of(bundle.part(PART), anchor)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise BundleError(f"{bundle.where}: its part {PART!r} does not load ({error!r}); train it again") from None
    told = {} if sheets is None else sheets.of_known()
    rehearsal = Rehearsal.of(_zoo(bundle, anchor, held_out), known, held_out, told)
    if rehearsal is None:
        return Measured()
    errors: list[MeasuredError] = []
    calibrations: dict[bool, Calibration] = {}
    for latency_known, rehearsed in rehearsal.play(
        [each.name for each in workloads], len(workloads), profiled
    ).items():
        errors.append(rehearsed.error(latency_known))
        calibrations[latency_known] = rehearsed.calibration()
    return Measured(tuple(errors), calibrations)


def _zoo(bundle: Bundle, anchor: str, held_out: Mapping[bool, HeldOut]) -> Zoo:
    """Return the workloads of an anchor; the profiles of a known target are those of it as an anchor."""
    names, parts = known_workloads(bundle, anchor)
    targets = next(iter(held_out.values())).targets if held_out else ()
    families_us = {}
    for target in set(targets) & set(bundle.anchors):
        theirs, there = known_workloads(bundle, target)
        places = {name: place for place, name in enumerate(theirs)}
        rows = np.array([places.get(name, -1) for name in names], np.intp)
        families_us[target] = np.where((rows >= 0)[:, None], by_family(there)[rows], np.nan)
    return Zoo(tuple(names), parts, families_us)
