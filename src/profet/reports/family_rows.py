"""Where the time of a step goes: the op families that matter, and the rest as one, for table and picture alike."""

from dataclasses import dataclass

from profet.predictors.answer import GAP
from profet.predictors.card import FamilyTime, TargetPrediction

_LEAST_SHARE = 0.01


@dataclass(frozen=True)
class FamilyRow:
    """Time of a family, or of several small ones together, in ms a step."""

    name: str
    anchor_ms: float
    target_ms: float
    together: bool = False


def family_rows(answer: TargetPrediction) -> list[FamilyRow]:
    """Return the families with at least 1 % of the step on the target, largest there first, and the rest as one."""
    least_ms = _LEAST_SHARE * answer.latency_ms
    shown = [each for each in answer.card.families if each.target_ms >= least_ms]
    rest = [each for each in answer.card.families if each.target_ms < least_ms]
    rows = [FamilyRow(_name(each), each.anchor_ms, each.target_ms) for each in shown]
    if rest:
        sums = sum(each.anchor_ms for each in rest), sum(each.target_ms for each in rest)
        rows.append(FamilyRow(f"{len(rest)} more", *sums, together=True))
    return rows


def _name(each: FamilyTime) -> str:
    return "gap (device waits)" if each.family == GAP else each.family.replace("_", " ")
