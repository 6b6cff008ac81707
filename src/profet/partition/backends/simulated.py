"""Simulated units: processes that really sleep for as long as a batch would take, so that no hardware is needed."""

import os
import time
import zlib
from collections.abc import Sequence

import numpy as np

from profet.errors import InputError
from profet.partition.backends.protocol import Array, Device, OutOfMemoryError, RunTimes, UnitError
from profet.partition.networks.network import Network
from profet.partition.tables import Point, UnitTable, load_table
from profet.partition.units import Unit

_SAMPLED = 16
_MOST_MS = 1e7
_MOST_FACTOR = 1e4
_MOST_COUNT = 2**24


class SimulatedBackend:
    """``simulated:NAME:fixed=2:image=1.5`` takes 2 ms and 1.5 ms an image; ``table=FILE`` replays a measured unit.

    Settings: ``fixed`` and ``image`` in ms (0 and 1), or ``table``, whose unit NAME is replayed; ``noise``, the
    relative spread; ``slowdown``, a factor, and ``slow-after``, the batches before it starts; and for faults
    ``fail-after`` and ``hang-after`` batches, and ``oom-above`` images.
    """

    name = "simulated"
    install = "nothing: it is always there"

    def version(self) -> str | None:
        """Return the version of what is simulated; it changes when the same unit would take other times."""
        return "1"

    def devices(self) -> list[Device]:
        """Return one device as an example; any name will do."""
        note = "simulated:NAME:fixed=MS:image=MS sleeps instead of computing; it is for trying things out"
        return [Device("example", "simulated", "a process that sleeps", note)]

    def load(self, network: Network, unit: Unit) -> "SimulatedRunner":
        """Read the unit's settings.

        Raises:
            UnitError: a setting cannot be, or its table cannot be read.
        """
        return SimulatedRunner(network, unit)


class SimulatedRunner:
    """Sleeps for the time of a batch and fills the outputs with a value of each image."""

    def __init__(self, network: Network, unit: Unit) -> None:
        self._network = network
        self._unit = unit
        self._curve = _curve(unit)
        self._noise = _number(unit, "noise", 0.0, 1.0)
        self._slowdown = _number(unit, "slowdown", 1.0, _MOST_FACTOR)
        self._slow_after = _count(unit, "slow-after") or 0
        self._fail_after = _count(unit, "fail-after")
        self._hang_after = _count(unit, "hang-after")
        self._oom_above = _count(unit, "oom-above")
        self._random = np.random.default_rng(zlib.crc32(unit.full_name.encode()))
        self._runs = 0

    def warm_up(self, batch: int) -> None:
        """Check that the batch fits.

        Raises:
            OutOfMemoryError: it is above oom-above.
        """
        self._check_memory(batch)

    def run(self, images: Array, outputs: Sequence[Array]) -> RunTimes:
        """Sleep for as long as the batch takes.

        Args:
            images: (batch, ...).
            outputs: filled with the mean of 16 values of each image.

        Raises:
            OutOfMemoryError: the batch is above oom-above.
        """
        start = time.perf_counter()
        self._check_memory(len(images))
        done, self._runs = self._runs, self._runs + 1
        if self._fail_after is not None and done >= self._fail_after:
            os._exit(1)
        while self._hang_after is not None and done >= self._hang_after:
            time.sleep(60)
        factor = self._slowdown if done >= self._slow_after else 1.0
        factor *= max(0.1, 1 + self._noise * float(self._random.standard_normal()))
        wanted = self._curve.times(len(images))
        _fill(images, outputs)
        time.sleep(max(0.0, wanted.total_ms * factor / 1000 - (time.perf_counter() - start)))
        total_ms = (time.perf_counter() - start) * 1000
        io_ms = total_ms * (wanted.io_ms / wanted.total_ms if wanted.total_ms else 0.0)
        return RunTimes(total_ms - io_ms, io_ms)

    def close(self) -> None:
        """Hold nothing, give back nothing."""

    def _check_memory(self, batch: int) -> None:
        if self._oom_above is not None and batch > self._oom_above:
            raise OutOfMemoryError(
                f"{self._unit.name}: a batch of {batch} does not fit its memory (oom-above={self._oom_above})"
            )


def _fill(images: Array, outputs: Sequence[Array]) -> None:
    """Write into every output the mean of a few values of its image, whatever batch the image is in."""
    flat = images.reshape(len(images), -1)
    places = np.unique(np.linspace(0, flat.shape[1] - 1, _SAMPLED).astype(np.int64))
    total = np.zeros(len(images))
    for place in places:  # a column at a time: the order of the additions never depends on the batch
        total += flat[:, place]
    mean = total / len(places)
    for output in outputs:
        output[...] = mean.astype(output.dtype).reshape(-1, *(1,) * (output.ndim - 1))


class _Line:
    """A time of fixed_ms and image_ms an image, all of it execution."""

    def __init__(self, fixed_ms: float, image_ms: float) -> None:
        self._fixed_ms = fixed_ms
        self._image_ms = image_ms

    def times(self, batch: int) -> RunTimes:
        return RunTimes(self._fixed_ms + self._image_ms * batch, 0.0)


class _Replay:
    """The times of a measured unit, as planners take them: linear between its sizes, proportional beyond them."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._sizes = [point.batch for point in points]
        self._execution_ms = [point.execution_ms for point in points]
        self._io_ms = [point.io_ms for point in points]

    def times(self, batch: int) -> RunTimes:
        inside = min(max(batch, self._sizes[0]), self._sizes[-1])
        scale = max(1.0, batch / inside)  # fewer images than the smallest size take what that takes
        execution_ms = float(np.interp(inside, self._sizes, self._execution_ms))
        io_ms = float(np.interp(inside, self._sizes, self._io_ms))
        return RunTimes(execution_ms * scale, io_ms * scale)


def _curve(unit: Unit) -> _Line | _Replay:
    if unit.option("table") is None:
        return _Line(_number(unit, "fixed", 0.0, _MOST_MS), _number(unit, "image", 1.0, _MOST_MS))
    if unit.option("fixed") or unit.option("image"):
        raise UnitError(f"{unit.name}: give either table or fixed and image, not both")
    return _Replay(_replayed(unit).points)


def _replayed(unit: Unit) -> UnitTable:
    name, _, rest = unit.device.partition(":")
    hint = "; settings are split at ':', so a path with one cannot be given here" if rest else ""
    try:
        return load_table(unit.option("table") or "").unit(name)
    except InputError as error:
        raise UnitError(f"{unit.name}: {error}{hint}") from None


def _number(unit: Unit, key: str, default: float, most: float) -> float:
    text = unit.option(key)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= most:
        raise UnitError(f"{unit.name}: {key} is a number from 0 to {most:g}, not '{text[:40]}'")
    return value


def _count(unit: Unit, key: str) -> int | None:
    text = unit.option(key)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 12 and int(text) <= _MOST_COUNT):
        raise UnitError(f"{unit.name}: {key} is a whole number from 0 to {_MOST_COUNT}, not '{text[:40]}'")
    return int(text)


BACKEND = SimulatedBackend()
