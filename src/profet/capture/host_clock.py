"""How long steps take by the host's clock: right where the loop goes on only when a step is done."""

import time

_MS_PER_S = 1000.0


class HostClock:
    """Times steps; each lap ends one and begins the next."""

    def __init__(self) -> None:
        self._moments: list[float] = []

    def lap(self) -> None:
        """Note the moment."""
        self._moments.append(time.perf_counter())

    def latencies_ms(self) -> list[float]:
        """Return how long passed between the moments, in ms."""
        pairs = zip(self._moments, self._moments[1:], strict=False)
        return [_MS_PER_S * (after - before) for before, after in pairs]
