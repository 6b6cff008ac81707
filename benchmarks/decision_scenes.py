"""One draw of prices and deadlines, what each policy takes in it, and what that costs."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from benchmarks.decision_folds import Decisions
from profet.profiles.arrays import FloatArray

PRICES = {"g3s.xlarge": 0.75, "g4dn.xlarge": 0.526, "p2.xlarge": 0.90, "p3.2xlarge": 3.06}
"""USD an hour, of the original's demo."""
NEWEST = "g4dn.xlarge"
DRAWS, CONFIDENCE = 200, 0.9
CONFIDENCES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.95)
MARGINS = (0.05, 0.1, 0.2, 0.3)
OURS, PUBLISHED = "ours", "published"

Choice = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Scene:
    """One draw of prices, and of a deadline for every run.

    Args:
        decisions: the runs.
        price: of a ms on each instance, shape (instances,).
        deadline_ms: for a step of each run, shape (n,); infinite where there is none.
    """

    decisions: Decisions
    price: FloatArray
    deadline_ms: FloatArray

    def cheapest(self, latency_ms: FloatArray, allowed: npt.NDArray[np.bool_], else_take: Choice) -> Choice:
        """Return the cheapest allowed option of each run, or what else to take where none is."""
        cost = np.where(allowed, self.price * latency_ms, np.inf)
        return np.where(allowed.any(axis=1), cost.argmin(axis=1), else_take)

    @cached_property
    def chance(self) -> FloatArray:
        """Chance of each option to be in time, as ``profet advise`` states it, shape (n, instances)."""
        made = self.decisions
        share: FloatArray = (made.factors * made.ours_ms[:, :, None] <= self.deadline_ms[:, None, None]).mean(
            axis=2
        )
        return share

    def ours(self, confidence: float = CONFIDENCE) -> Choice:
        """Recommend as ``profet advise`` does: the cheapest whose chance is enough, else the surest."""
        made, n = self.decisions, len(self.deadline_ms)
        if np.isinf(self.deadline_ms).all():
            return self.cheapest(made.ours_ms, np.ones(made.ours_ms.shape, bool), np.zeros(n, np.intp))
        surest: Choice = np.lexsort((made.ours_ms, -self.chance), axis=1)[:, 0]
        return self.cheapest(made.ours_ms, self.chance >= confidence, surest)

    def published(self, margin: float = 0.0) -> Choice:
        """Take the published method's word: the cheapest that it says is in time by a margin, else the fastest."""
        made = self.decisions
        in_time = made.published_ms <= (1 - margin) * self.deadline_ms[:, None]
        return self.cheapest(made.published_ms, in_time, made.published_ms.argmin(axis=1))

    def always(self, name: str) -> Choice:
        """Take one instance whatever comes."""
        return np.full(len(self.deadline_ms), self.decisions.instances.index(name))

    def choices(self) -> dict[str, Choice]:
        """Return what each policy takes, shape (n,) each."""
        n = len(self.deadline_ms)
        graded = {}
        if not np.isinf(self.deadline_ms).all():
            graded = {f"{OURS}, confidence {confidence:g}": self.ours(confidence) for confidence in CONFIDENCES}
            graded |= {f"{PUBLISHED}, {100 * m:.0f} % early": self.published(m) for m in MARGINS}
        return {
            OURS: self.ours(),
            PUBLISHED: self.published(),
            **graded,
            **{f"always {name}": self.always(name) for name in sorted(PRICES)},
            "always the newest": self.always(NEWEST),
            "always the cheapest per hour": np.full(n, int(self.price.argmin())),
        }

    def judge(self, taken: Choice) -> tuple[npt.NDArray[np.bool_], FloatArray, npt.NDArray[np.bool_]]:
        """Return whether each choice is the truly cheapest in time, its regret, and whether it misses the deadline.

        Regret is what a choice costs over the truly cheapest in time, less one. A run that misses its deadline is
        paid for, and done again on the truly fastest instance.
        """
        true_ms = self.decisions.true_ms
        cost = self.price * true_ms
        in_time = true_ms <= self.deadline_ms[:, None]
        best = np.where(in_time, cost, np.inf).argmin(axis=1)
        rows = np.arange(len(taken))
        missed = ~in_time[rows, taken]
        again = np.where(missed, cost[rows, true_ms.argmin(axis=1)], 0.0)
        return taken == best, (cost[rows, taken] + again) / cost[rows, best] - 1, missed

    def stated_chances(self) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Return the stated chance that the recommended option is cheaper than the next, and whether it is."""
        made = self.decisions
        order = (self.price * made.ours_ms).argsort(axis=1)
        rows, first, second = np.arange(len(order)), order[:, 0], order[:, 1]
        stated = []
        for option in (first, second):
            scale = self.price[option] * made.ours_ms[rows, option]
            stated.append(made.factors[rows, option] * scale[:, None])
        cost = self.price * made.true_ms
        return (stated[0] < stated[1]).mean(axis=1), cost[rows, first] < cost[rows, second]

    def chances_in_time(self) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Return the stated chance of every option to be in time, and whether it is."""
        return self.chance.ravel(), (self.decisions.true_ms <= self.deadline_ms[:, None]).ravel()


def scenes(decisions: Decisions, deadlines: bool, seed: int) -> list[Scene]:
    """Draw prices, and deadlines where asked, DRAWS times."""
    random = np.random.default_rng(seed)
    base = np.array([PRICES[name] for name in decisions.instances])
    fastest, slowest = np.log(decisions.true_ms.min(axis=1)), np.log(decisions.true_ms.max(axis=1))
    made = []
    for _ in range(DRAWS):
        price = base * np.exp(random.uniform(np.log(0.3), np.log(3), len(base)))
        limit = np.exp(random.uniform(fastest, slowest)) if deadlines else np.full(len(fastest), np.inf)
        made.append(Scene(decisions, price, limit))
    return made
