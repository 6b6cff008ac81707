"""Several GPUs of one instance, each with a batch of its own: only as fast as somebody is willing to assume."""

import re
import zlib

import numpy as np

from profet.advice.latencies import Latency
from profet.errors import InputError

Scaling = tuple[float, float]

_SCALING = re.compile(r"\s*(\d*\.?\d+)\s*:\s*(\d*\.?\d+)\s*", re.ASCII)


def parse_scaling(text: str, what: str = "--scaling") -> Scaling:
    """Read the least and the largest share of its speed that a GPU keeps beside others, such as "0.8:0.95".

    Raises:
        InputError: not two shares, in this order, above 0 and at most 1.
    """
    match = _SCALING.fullmatch(text)
    if match is None or not 0 < float(match[1]) <= float(match[2]) <= 1:
        raise InputError(
            f"{what}: {text[:40]!r} is no range of shares above 0 up to 1; write the share of its speed that a GPU"
            " keeps beside others, as 0.8:0.95"
        )
    return float(match[1]), float(match[2])


def beside_others(latency: Latency, gpus: int, scaling: Scaling, level: float) -> Latency:
    """Return the latency of a step in which each of several GPUs takes a batch.

    The range is the same whatever their number. Any share in it is as likely as another, and that of one kind and
    number of GPUs tells nothing of another's. The best single figure is the middle of the range.
    """
    if gpus == 1:
        return latency
    least, most = scaling
    ms = latency.ms / ((least + most) / 2)
    explanation = (
        f"{latency.explanation}; {gpus} GPUs, each assumed to keep {100 * least:g}–{100 * most:g} % of its speed"
    )
    key = f"{latency.draws_key}, {gpus} GPUs"
    if latency.draws_ms is None:
        return Latency(key, latency.basis, explanation, ms, None, None, None)
    shares = np.random.default_rng(zlib.crc32(key.encode())).uniform(least, most, len(latency.draws_ms))
    draws_ms = latency.draws_ms / shares
    low_ms, high_ms = (float(end) for end in np.quantile(draws_ms, [(1 - level) / 2, (1 + level) / 2]))
    return Latency(key, latency.basis, explanation, ms, min(low_ms, ms), max(high_ms, ms), draws_ms)
