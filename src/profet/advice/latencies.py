"""What is known of a step on each machine: measured on the anchor, predicted where one was learnt from."""

import zlib
from dataclasses import dataclass

import numpy as np

from profet.advice.advice import Basis
from profet.predictors.bundle import Bundle
from profet.predictors.card import Prediction, TargetPrediction
from profet.predictors.epochs.converted import CONVERTED
from profet.predictors.intervals import LEVELS, WIDENED
from profet.predictors.joint_errors import MOST_RUNS
from profet.predictors.manifest import EXTRAPOLATED
from profet.predictors.onboarding.predictor import ONBOARDED
from profet.profiles.arrays import FloatArray

_BASES: dict[str, Basis] = {EXTRAPOLATED: "extrapolated", ONBOARDED: "onboarded", CONVERTED: "converted"}


@dataclass(frozen=True)
class Latency:
    """A step on one GPU of a machine.

    Args:
        draws_key: names the draws.
        basis: how it is known.
        explanation: the same in a phrase.
        ms: the best single figure.
        low_ms: lower end of the interval; None where there is none.
        high_ms: upper end.
        draws_ms: what the truth may be, shape (draws,); the i-th of all latencies belong together. None where
            nothing is known of the error.
    """

    draws_key: str
    basis: Basis
    explanation: str
    ms: float
    low_ms: float | None
    high_ms: float | None
    draws_ms: FloatArray | None

    def on_another_host(self, explanation: str) -> "Latency":
        """Return it for a machine with the same GPU that nobody measured, twice as uncertain in logs."""
        ends = [
            None if end is None else self.ms * (end / self.ms) ** WIDENED for end in (self.low_ms, self.high_ms)
        ]
        draws = None if self.draws_ms is None else self.ms * (self.draws_ms / self.ms) ** WIDENED
        return Latency(f"{self.draws_key} elsewhere", "extrapolated", explanation, self.ms, ends[0], ends[1], draws)


def known_latencies(prediction: Prediction, bundle: Bundle, level: float) -> dict[str, Latency]:
    """Return the anchor's latency, where it was measured, and every predicted one, by instance.

    Args:
        prediction: made with the bundle.
        bundle: that knows how its errors go together.
        level: of the interval of the anchor's own repeats.
    """
    anchor, latency_ms = prediction.anchor, prediction.anchor_latency_ms
    joint = bundle.joint_errors(anchor, latency_ms is not None)
    sizes = {each.target: each.card.expected_log_error for each in prediction.predictions}
    together = {name: size for name, size in sizes.items() if size is not None}
    factors = {} if joint is None else joint.factors({**together, anchor: 1.0})
    found = {}
    if latency_ms is not None:
        found[anchor] = _measured(anchor, latency_ms, factors.get(anchor), level)
    draws = 2 * MOST_RUNS if joint is None else 2 * len(joint.scores)
    for each in prediction.predictions:
        alone = factors.get(each.target)
        if alone is None and each.target in together:
            alone = _alone(each, bundle, prediction, draws)
        draws_ms = None if alone is None else each.latency_ms * alone
        explanation = f"predicted from {anchor}{f'; {each.explanation}' if each.explanation else ''}"
        basis = _BASES.get(each.basis, "predicted")
        found[each.target] = Latency(
            each.target, basis, explanation, each.latency_ms, each.low_ms, each.high_ms, draws_ms
        )
    return found


def _measured(anchor: str, latency_ms: float, factors: FloatArray | None, level: float) -> Latency:
    """Give the measured latency the spread that repeats on this machine had in the training data."""
    if factors is None:
        return Latency(anchor, "measured", "measured there", latency_ms, None, None, None)
    spread = float(np.quantile(np.abs(np.log(factors)), level))
    ends = latency_ms * np.exp(-spread), latency_ms * np.exp(spread)
    return Latency(
        anchor, "measured", "measured there", latency_ms, float(ends[0]), float(ends[1]), latency_ms * factors
    )


def _alone(each: TargetPrediction, bundle: Bundle, prediction: Prediction, draws: int) -> FloatArray | None:
    """Draw the errors of a target whose runs are not those of the others, as if independent of them."""
    calibration = bundle.calibration(prediction.anchor, each.target, prediction.anchor_latency_ms is not None)
    size = each.card.expected_log_error
    if calibration is None or size is None:
        return None
    random = np.random.default_rng(zlib.crc32(each.target.encode()))
    scores = np.interp(random.permutation((np.arange(draws) + 0.5) / draws), LEVELS, calibration.quantiles)
    signs = np.where(random.permutation(draws) % 2 == 0, 1.0, -1.0)
    factors: FloatArray = np.exp(np.clip(signs * scores * size, -50.0, 50.0))
    return factors
