"""From what predictors learnt about known GPUs to a step on one that is known from its data sheet alone.

A profile on a known anchor tells of a GPU that nobody measured in two ways: straight, by the rates of both, and
over each GPU that was learnt, whose predicted step is moved on by the rates. A profile on a GPU that nobody
measured tells of a known target likewise: straight, and moved to each known anchor, from which the target was
learnt. The answer is the geometric mean of both ways: the straight one, which rests on a measured step, counts as
much as all others.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from profet.predictors.answer import GAP, Answer, FamilyTimes
from profet.predictors.data_sheets.rates import Rates, moved, moved_profiles
from profet.profiles.arrays import FloatArray, ProfileArrays
from profet.profiles.families import op_families

STRAIGHT, OVER_OTHERS = "straight", "over known GPUs"
"""The two ways to an answer, named as members of a predictor are."""

Ask = Callable[[str, str, ProfileArrays], Answer]
"""Asks the predictor of an anchor and a target about profiles on the anchor."""


@dataclass(frozen=True)
class KnownMachines:
    """What predictors were learnt for.

    Args:
        targets: of each anchor, those whose predictors tell where time goes by family.
        rates: of the GPUs of all anchors and targets whose data sheets state them, by instance.
    """

    targets: Mapping[str, Sequence[str]]
    rates: Mapping[str, Rates]

    def without(self, instances: Iterable[str]) -> "KnownMachines":
        """Return the same as if some instances had never been measured."""
        out = set(instances)
        left = {
            anchor: tuple(target for target in targets if target not in out)
            for anchor, targets in self.targets.items()
            if anchor not in out
        }
        return KnownMachines(left, self.rates)

    def with_target(self, target: str, anchors: Iterable[str]) -> "KnownMachines":
        """Return the same with a target that some anchors know in another way than from runs there."""
        more = {name: tuple(dict.fromkeys((*self.targets.get(name, ()), target))) for name in anchors}
        return KnownMachines({**self.targets, **more}, self.rates)


def target_from_sheet(profiles: ProfileArrays, anchor: str, there: Rates, known: KnownMachines, ask: Ask) -> Answer:
    """Answer for a target that nobody measured, from n profiles on a known anchor.

    Raises:
        ValueError: nothing was learnt on the anchor, or its data sheet is not known.
    """
    answers = {target: ask(anchor, target, profiles) for target in known.targets.get(anchor, ())}
    told = {target: answer.families for target, answer in answers.items() if answer.families is not None}
    if not told or anchor not in known.rates:
        raise ValueError("of no known machine are the data sheet and the time by op family known")
    here_ms = next(iter(told.values())).anchor_ms
    over = [
        moved(families.target_ms, known.rates[target], there)
        for target, families in told.items()
        if target in known.rates
    ]
    return _joined(here_ms, [moved(here_ms, known.rates[anchor], there)], over, answers.values())


def as_it_is(profiles: ProfileArrays, anchor: str, known: KnownMachines, ask: Ask) -> Answer:
    """Answer for another machine with the GPU of a known anchor: its own step.

    Raises:
        ValueError: nothing was learnt on the anchor by family.
    """
    for target in known.targets.get(anchor, ()):
        answer = ask(anchor, target, profiles)
        if answer.families is not None:
            here_ms = answer.families.anchor_ms
            return _joined(here_ms, [here_ms], [], [answer])
    raise ValueError("nothing was learnt there by op family")


def target_from_strange_anchor(
    profiles: ProfileArrays, here: Rates, target: str, there: Rates | None, known: KnownMachines, ask: Ask
) -> Answer:
    """Answer for a target, known or not, from n profiles on an anchor that nobody measured.

    Args:
        profiles: on the anchor.
        here: rates of the anchor's GPU.
        target: the instance asked about.
        there: rates of its GPU; None where they are not known.
        known: what was learnt, where the anchor is not among it.
        ask: see Ask.

    Raises:
        ValueError: no anchor is known by its data sheet, or nothing leads to the target.
    """
    straight, learnt, answers, here_ms = [], [], [], None
    for anchor, targets in known.targets.items():
        if not targets or anchor not in known.rates:
            continue
        as_there = moved_profiles(profiles, here, known.rates[anchor])
        answer = ask(anchor, target if target in targets else targets[0], as_there)
        if answer.families is None:
            continue
        answers.append(answer)
        here_ms = moved(answer.families.anchor_ms, known.rates[anchor], here) if here_ms is None else here_ms
        if target in targets:
            learnt.append(answer.families.target_ms)
        if there is not None:
            straight.append(moved(answer.families.anchor_ms, known.rates[anchor], there))
    if here_ms is None or not (straight or learnt):
        raise ValueError("of no known machine are the data sheet and the time by op family known")
    return _joined(here_ms, straight, learnt, answers)


def mean_of_ways(ways: Mapping[str, Sequence[FloatArray]]) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Put what several ways lead to together.

    Args:
        ways: steps by family, of shape (n, families + 1) each, by what leads to them; a way may lead to none.

    Returns:
        Latency, and that of each way, in the unit of the times, shape (n,) each.
    """
    logs = {
        name: np.mean([np.log(each.sum(axis=1)) for each in some], axis=0) for name, some in ways.items() if some
    }
    return np.exp(np.mean(list(logs.values()), axis=0)), {name: np.exp(each) for name, each in logs.items()}


def _joined(
    here_ms: FloatArray, straight: Sequence[FloatArray], others: Sequence[FloatArray], answers: Iterable[Answer]
) -> Answer:
    """Answer with steps by family that lead straight to the target, and others, and with all cautions."""
    ways = {STRAIGHT: straight, OVER_OTHERS: others}
    latency_ms, by_way = mean_of_ways(ways)
    families_ms = np.sum([np.mean(some, axis=0) for some in ways.values() if some], axis=0)
    families_ms *= (latency_ms / families_ms.sum(axis=1))[:, None]
    cautions = {caution.text: caution for answer in answers for caution in answer.cautions}
    return Answer(
        latency_ms,
        by_way,
        families=FamilyTimes((*op_families().device, GAP), here_ms, families_ms),
        cautions=tuple(cautions.values()),
    )
