"""What a profile would be at another batch and input size, on the instance that it was recorded on.

Every kind of work in a step grows in its own way (see growth); how much of each is fixed is learnt from what
workloads of the same model took at other sizes. Moving the profile, not the latency, lets every predictor answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from profet.predictors.components import captured_us, take_apart
from profet.predictors.gaussian_process import Proximity, Standardiser
from profet.predictors.log_ratios import LogRatios
from profet.predictors.sizes.features import groups_of_families, size_features
from profet.predictors.sizes.growth import FREE, fit_log_odds, growth_terms, shares_of
from profet.predictors.sizes.profile_growth import Growth, times_us_of
from profet.predictors.sizes.sizes import Sizes
from profet.predictors.state import State, below, checked
from profet.predictors.step_estimate import StepEstimate
from profet.profiles.arrays import FloatArray, ProfileArrays
from profet.quantities import US_PER_MS

_LEAST_US, _LEAST_MOVED_US = 5.0, 1.0
_LEAST_MOVES, _LEAST_WORKLOADS, _LEAST_SHARE = 30, 10, 0.003
_USUAL_LOG_ODDS = (-3.0, -3.0, 3.0)
_SHAPE = "exponential"


@dataclass
class SizeMoves:
    """Learns from workloads of several models at several sizes on one instance how their times grow."""

    step_estimate_: StepEstimate = field(init=False, repr=False)
    scaler_: Standardiser = field(init=False, repr=False)
    known_: FloatArray = field(init=False, repr=False)
    log_odds_: LogRatios = field(init=False, repr=False)

    def fit(self, profiles: ProfileArrays, sizes: Sizes, models: Sequence[str], most: float) -> Self:
        """Learn from m workloads, one row each, and all moves between two of one model.

        Args:
            profiles: with known latencies.
            sizes: of the m workloads.
            models: of the m workloads.
            most: change of work from which on a move teaches nothing, a factor.
        """
        captured = captured_us(profiles)
        step_us = profiles.step_latency_ms * US_PER_MS
        self.step_estimate_ = StepEstimate.fit(captured, step_us)
        parts = take_apart(captured, step_us)
        features = size_features(parts, sizes)
        self.scaler_ = Standardiser.fit(features)
        self.known_ = self.scaler_.transform(features)
        start, end = sizes.moves_within(models, most)
        terms = growth_terms(*sizes.take(start).ratios_to(sizes.take(end)))
        times_us = times_us_of(parts)
        self.log_odds_ = LogRatios.empty(_SHAPE, FREE * times_us.shape[1], len(parts), 1)
        among = Proximity.between(self.known_, self.known_)
        for column in range(times_us.shape[1]):
            self._fit_column(column, among, times_us[:, column], step_us, (start, end), terms)
        return self

    def _fit_column(
        self,
        column: int,
        among: Proximity,
        time_us: FloatArray,
        step_us: FloatArray,
        moves: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]],
        terms: FloatArray,
    ) -> None:
        used = (time_us[moves[0]] > _LEAST_US) & (time_us[moves[1]] > _LEAST_MOVED_US)
        places = range(FREE * column, FREE * column + FREE)
        if used.sum() < _LEAST_MOVES:
            for place, value in zip(places, _USUAL_LOG_ODDS, strict=True):
                self.log_odds_.set_constant(place, value)
            return
        start, end = (side[used] for side in moves)
        weight = np.sqrt(time_us[start] / step_us[start] * time_us[end] / step_us[end])
        weight /= weight.mean()
        log_odds = fit_log_odds(start, len(time_us), terms[used], time_us[end] / time_us[start], weight)
        known = np.bincount(start, minlength=len(time_us)) > 0
        trust = np.bincount(start, weight, len(time_us))[known]
        varies = known.sum() >= _LEAST_WORKLOADS and bool((time_us / step_us).mean() > _LEAST_SHARE)
        own = _own_feature(time_us[:, None])[:, 0]
        for free, place in enumerate(places):
            y, noise = log_odds[known, free], np.sqrt(trust / trust.mean()) + 0.05
            self.log_odds_.fit_one(place, among, own, known, y, noise, varies)

    def growth(self, profiles: ProfileArrays, sizes: Sizes) -> Growth:
        """Return how n profiles grow; a latency that is NaN is read from the capture."""
        captured = captured_us(profiles)
        parts = take_apart(captured, self.step_estimate_.step_us(captured, profiles.step_latency_ms * US_PER_MS))
        near = Proximity.between(self.scaler_.transform(size_features(parts, sizes)), self.known_)
        times_us = times_us_of(parts)
        log_odds = self.log_odds_.predict(near, np.repeat(_own_feature(times_us), FREE, axis=1))
        shares = shares_of(log_odds.reshape(len(parts), times_us.shape[1], FREE))
        return Growth(profiles, parts, times_us, shares, near.distances().min(axis=1))

    def to_state(self) -> State:
        """Return what a bundle keeps."""
        arrays = {f"log_odds/{name}": array for name, array in self.log_odds_.arrays().items()}
        deviation = np.where(np.isinf(self.scaler_.deviation), 0.0, self.scaler_.deviation)
        arrays |= {"known": self.known_, "mean": self.scaler_.mean, "deviation": deviation}
        return State({"step_estimate": self.step_estimate_.to_settings()}, arrays)

    @classmethod
    def from_state(cls, settings: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Rebuild what was learnt.

        Raises:
            KeyError, TypeError, ValueError: settings or arrays that are not ours.
        """
        made = cls()
        made.step_estimate_ = StepEstimate.from_settings(settings["step_estimate"])
        mean = arrays["mean"]
        deviation = checked(arrays, "deviation", mean.shape, least=0.0)
        made.scaler_ = Standardiser(
            checked(arrays, "mean", mean.shape), np.where(deviation == 0, np.inf, deviation)
        )
        workloads = len(arrays["known"])
        made.known_ = checked(arrays, "known", (workloads, *mean.shape))
        columns = FREE * (len(groups_of_families()) + 3)
        made.log_odds_ = LogRatios.from_arrays(_SHAPE, below(arrays, "log_odds/"), columns, workloads, 1)
        return made


def _own_feature(times_us: FloatArray) -> FloatArray:
    return np.log(np.maximum(times_us, _LEAST_US))[:, :, None]
