"""What onboarding an instance gave, as facts and as terminal tables."""

from typing import Any

import numpy as np
from rich.table import Table

from profet.evaluation.onboarding.onboard import Onboarding
from profet.reports.tables import plain


def onboarding_facts(onboarding: Onboarding) -> dict[str, Any]:
    """Return how wrong a new target is to be expected, and what to measure next, for JSON."""
    pairs = []
    for pair in onboarding.pairs:
        mapes = {error.latency_known: error.mape for error in pair.measured.errors}
        pairs.append(
            {
                "anchor": pair.anchor,
                "workloads": pair.workloads,
                "with_profile": pair.profiled,
                "expected_mape": mapes.get(True),
                "expected_mape_without_latency": mapes.get(False),
                "left_out_mape": pair.left_out_mape,
            }
        )
    following = [
        {"workload": each.workload, "anchor_step_ms": each.step_ms, "expected_spread": each.spread}
        for each in onboarding.following
    ]
    return {
        "target": onboarding.name,
        "pairs": pairs,
        "measure_next": following,
        "warnings": list(onboarding.warnings),
    }


def onboarding_tables(facts: dict[str, Any]) -> list[Table]:
    """Show the anchors of a new target with the errors to expect, and what to measure next."""
    pairs = Table(title=f"{facts['target']} as a target", title_justify="left")
    pairs.add_column("anchor")
    for column in ("workloads", "with a profile there", "expected error", "no latency", "measured ones left out"):
        pairs.add_column(column, justify="right")
    for pair in facts["pairs"]:
        errors = (pair["expected_mape"], pair["expected_mape_without_latency"], pair["left_out_mape"])
        cells = ["–" if error is None else f"{error:.1f} %" for error in errors]
        pairs.add_row(plain(pair["anchor"]), f"{pair['workloads']}", f"{pair['with_profile']}", *cells)
    pairs.caption = "expected: of known targets treated the same way, on models left out; the intervals rest on it"
    pairs.caption_justify = "left"
    following = Table(title="What to measure next", title_justify="left")
    following.add_column("workload")
    following.add_column("step on the anchors", justify="right")
    following.add_column("then left to doubt", justify="right")
    for each in facts["measure_next"]:
        doubt = 100 * (np.exp(each["expected_spread"]) - 1)
        following.add_row(plain(each["workload"]), f"{each['anchor_step_ms']:.3g} ms", f"± {doubt:.0f} %")
    return [pairs, following] if facts["measure_next"] else [pairs]
