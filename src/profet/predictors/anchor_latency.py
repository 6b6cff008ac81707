"""Where a profile was measured and how long its step takes there: what the caller says, and whether it fits."""

import numpy as np

from profet.errors import InputError
from profet.predictors.bundle import Bundle
from profet.profiles.diagnosis import diagnose
from profet.profiles.profile import Profile
from profet.profiles.steps import LEAST_COVERED, MOST_COVERED, likely_latency
from profet.quantities import US_PER_MS, format_ms


def where_measured(
    profile: Profile, bundle: Bundle, anchor: str | None, anchor_latency_ms: float | None
) -> tuple[str, float | None, list[str]]:
    """Return the anchor, its step latency and warnings: what the caller says wins over the profile.

    Raises:
        InputError: neither says where it was, or the latency is none.
    """
    name = profile.instance if anchor is None else anchor
    if name is None:
        known = ", ".join(bundle.anchors)
        raise InputError(f"the profile does not say where it was measured; give --anchor, one of: {known}")
    if anchor_latency_ms is not None and not 0 < anchor_latency_ms < np.inf:
        raise InputError(f"anchor latency of {anchor_latency_ms:g} ms: must be above zero and finite")
    if profile.instance in (None, name):
        return name, anchor_latency_ms or profile.step_latency_ms, []
    warning = f"the profile says that it was measured on {profile.instance}; it was taken as one of {name}"
    return name, anchor_latency_ms, [warning]


def latency_warnings(profile: Profile, latency_ms: float | None) -> list[str]:
    """Compare the anchor latency with the sum of the device's operations, idle included."""
    if latency_ms is None:
        told = (
            "no anchor latency was given; the prediction rests on the profile alone, which is less exact:"
            " time a step without the profiler and give it as --anchor-latency"
        )
        return [told, *diagnose(profile, None)]
    covered = covered_times(profile, latency_ms)
    if covered is None:
        return diagnose(profile, latency_ms)
    facts = (
        f"the anchor latency of {format_ms(latency_ms)} ms cannot belong to this profile, whose device operations"
        f" take {format_ms(profile.device_total_us / US_PER_MS)} ms a step"
    )
    if likely := likely_latency(latency_ms, covered):
        return [f"{facts}; did you mean {likely}?"]
    cut = "; or the capture was cut short: profile whole steps" if covered < 1 else ""
    return [f"{facts}; check its unit, and that --steps {profile.steps} is right{cut}"]


def covered_times(profile: Profile, latency_ms: float | None) -> float | None:
    """Return how many times the latency the operations take; None where the two can belong together."""
    if latency_ms is None:
        return None
    covered = profile.device_total_us / US_PER_MS / latency_ms
    return None if LEAST_COVERED <= covered <= MOST_COVERED else covered
