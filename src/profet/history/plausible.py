"""Whether a measured latency can be what was meant; a wrong unit is the likeliest mistake."""

from profet.errors import InputError
from profet.history.measurement import Measurement
from profet.quantities import format_ms

MOST_APART = 20.0
"""A measurement further from its prediction than this factor is not believed unless its user insists."""

_WRONG_UNITS = (1e-3, 1e3, 1e-6, 1e6)
"""What a latency is off by whose unit was taken for another of s, ms and us."""


def is_plausible(measurement: Measurement) -> bool:
    """Whether a latency is no further from its prediction than what is believed; without one, it is."""
    if measurement.predicted_ms is None:
        return True
    return 1 / MOST_APART <= measurement.measured_ms / measurement.predicted_ms <= MOST_APART


def check_latency(measurement: Measurement, option: str = "--latency") -> None:
    """Refuse a latency that is off from its prediction by what only a mistake explains.

    Raises:
        InputError: names the unit that was probably meant, where one fits.
    """
    predicted_ms, measured_ms = measurement.predicted_ms, measurement.measured_ms
    if predicted_ms is None or is_plausible(measurement):
        return
    meant = [
        f"{measured_ms * factor:g}ms"
        for factor in _WRONG_UNITS
        if 1 / MOST_APART <= measured_ms * factor / predicted_ms <= MOST_APART
    ]
    factor = max(measured_ms / predicted_ms, predicted_ms / measured_ms)
    way = "times" if measured_ms > predicted_ms else "times less than"
    hint = f"did you mean {meant[0]}?" if meant else "check that it is of one step, of this profile's workload;"
    raise InputError(
        f"{option}: {format_ms(measured_ms)} ms on {measurement.target} is {factor:.3g} {way} the"
        f" {format_ms(predicted_ms)} ms predicted; {hint} --force keeps it as it is"
    )
