"""PROFET's JSON: a list with one object of ``Device_*`` and ``Host_*`` times in µs, over two steps."""

from typing import Any

from profet.errors import InputError
from profet.profiles.profile import Profile, check_time, operation_name
from profet.profiles.reading import ReadOptions
from profet.profiles.steps import PUBLISHED_STEPS

_SHAPE = "expected PROFET's list with one object of Device_* and Host_* times"


def read(document: object, where: str, options: ReadOptions) -> Profile:
    """Make a profile of a parsed document; times are divided by the steps (2 unless said otherwise).

    Raises:
        InputError: another shape, a time that is none, or no device operation.
    """
    if not isinstance(document, list) or len(document) != 1 or not isinstance(document[0], dict):
        raise InputError(f"{where}: {_describe(document)}; {_SHAPE}")
    steps = options.steps or PUBLISHED_STEPS
    times: dict[str, dict[str, float]] = {"Host": {}, "Device": {}}
    strangers = []
    for key, value in document[0].items():
        side, _, operation = key.partition("_")
        if side in times and operation:
            name = operation_name(operation)
            times[side][name] = times[side].get(name, 0.0) + _time_us(value, key, where) / steps
        else:
            strangers.append(key)
    if not times["Device"]:
        raise InputError(f"{where}: no Device_* key, so no device operations; {_SHAPE}")
    warnings = []
    if strangers:
        named = ", ".join(repr(key[:40]) for key in sorted(strangers)[:3])
        warnings.append(f"{len(strangers)} keys that are neither Device_* nor Host_* were ignored ({named})")
    profile = _profile(times, steps, warnings, options, where)
    if not profile.has_device_operations:
        raise InputError(f"{where}: no device operations, only idle or zero times; record a whole training step")
    return profile


def _profile(
    times: dict[str, dict[str, float]], steps: int, warnings: list[str], options: ReadOptions, where: str
) -> Profile:
    try:
        return Profile(
            framework="tensorflow",
            steps=steps,
            step_latency_ms=options.step_latency_ms,
            host_us=times["Host"],
            device_us=times["Device"],
            warnings=warnings,
        )
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None


def _time_us(value: object, key: str, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{where}: {key[:60]} is {str(value)[:40]!r}; a time must be a number of µs")
    try:
        time = float(value)
        check_time(time, key[:60])
    except OverflowError:
        raise InputError(f"{where}: {key[:60]} is too large for a time; give µs") from None
    except ValueError as error:
        raise InputError(f"{where}: {error}; record the profile again") from None
    return time


def _describe(document: Any) -> str:
    if isinstance(document, list):
        kind = "a list of numbers or text" if document and not isinstance(document[0], dict) else "a list"
        return f"JSON of another shape, {kind} with {len(document)} entries"
    return "JSON of another shape"
