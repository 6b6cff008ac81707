"""Asks a bundle's predictors on the way over known GPUs, and remembers how unsure some of them are themselves."""

from dataclasses import dataclass, field

import numpy as np

from profet.predictors.answer import Answer
from profet.predictors.bundle import Bundle
from profet.predictors.manifest import LEARNT
from profet.predictors.pair_prediction import PairQuestion
from profet.profiles.arrays import ProfileArrays


@dataclass
class Asking:
    """The predictors of a bundle, as routes ask them.

    How far off data sheets are was measured with predictors that were learnt from runs. Of targets that came to be
    known in another way (onboarded, converted) the error comes on top.

    Args:
        bundle: that holds them.
        asked: what they are asked for.
    """

    bundle: Bundle
    asked: PairQuestion
    _half_widths: list[float] = field(default_factory=list, init=False)

    def __call__(self, anchor: str, target: str, profiles: ProfileArrays) -> Answer:
        """Ask the predictor of an anchor and a target about profiles on the anchor."""
        answer = self.bundle.predictor(anchor, target).answer(profiles, self.asked.framework)
        if self.bundle.pair(anchor, target).basis != LEARNT:
            latency_known = not np.isnan(self.asked.profiles.step_latency_ms[0])
            calibration = self.bundle.calibration(anchor, target, latency_known)
            half_width = float("nan")
            if calibration is not None and answer.doubts is not None:
                half_width = float(calibration.half_width(answer.doubts, self.asked.interval)[0])
            self._half_widths.append(half_width)
        return answer

    @property
    def beside(self) -> float:
        """Half an interval that comes to that of data sheets, in natural logs; NaN where it was not measured."""
        return float(np.max(self._half_widths, initial=0.0))
