"""How much longer batches take than their plans predict: so much each, and so much in proportion."""

from dataclasses import dataclass

_NEWEST = 0.1
"""Weight of the newest batch."""

_IN_PROPORTION = 1.0
"""What is expected of the slope before batches of different lengths were seen."""

_TOLERANCE = 0.1
"""Relative spread of the lengths that were seen from which they, and not the expectation, decide the slope."""

_LEAST, _MOST = 0.5, 20.0


@dataclass
class Delay:
    """Follows a straight line from predicted to taken times, by least squares that forget.

    Copies and hand-over take the same time for every batch; a processor that something else uses makes all of it
    longer in proportion. The line tells them apart as soon as batches of different lengths ran.
    """

    _predicted_ms: float = 0.0
    _taken_ms: float = 0.0
    _variance: float = 0.0
    _covariance: float = 0.0
    _batches: int = 0

    def learn(self, predicted_ms: float, taken_ms: float) -> None:
        """Take in how long a batch took."""
        self._batches += 1
        weight = max(_NEWEST, 1 / self._batches)
        ahead, behind = predicted_ms - self._predicted_ms, taken_ms - self._taken_ms
        self._predicted_ms += weight * ahead
        self._taken_ms += weight * behind
        self._variance = (1 - weight) * (self._variance + weight * ahead**2)
        self._covariance = (1 - weight) * (self._covariance + weight * ahead * behind)

    def expected_ms(self, predicted_ms: float) -> float:
        """Return how long a batch is expected to take; what was predicted before anything was learnt."""
        if not self._batches:
            return predicted_ms
        known = (_TOLERANCE * self._predicted_ms) ** 2
        slope = (self._covariance + _IN_PROPORTION * known) / (self._variance + known)
        slope = min(max(slope, _LEAST), _MOST)
        each_ms = max(0.0, self._taken_ms - slope * self._predicted_ms)
        return each_ms + slope * predicted_ms
