"""What is known of an instance: its GPUs, its host, and its prices. What nobody stated is None."""

import calendar
import datetime
import functools
import re

import msgspec

from profet.quantities import CURRENCIES, DEFAULT_CURRENCY

LONGEST_NAME = 120
_DATE = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?", re.ASCII)
SMALLEST, LARGEST = 1e-9, 1e9
"""What quantities and prices lie between; a mistake beyond."""


GPU_QUANTITIES = (
    "compute_capability",
    "fp32_tflops",
    "bandwidth_gb_s",
    "memory_gib",
    "base_clock_mhz",
    "boost_clock_mhz",
)
"""Facts of a GPU that are numbers, each with a source."""


class Gpu(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a data sheet says of one GPU.

    Args:
        name: short, such as "T4"; instances name their GPU so.
        compute_capability: of CUDA, such as 7.5.
        fp32_tflops: peak rate of float32 arithmetic.
        bandwidth_gb_s: peak rate of its memory.
        memory_gib: of one GPU.
        base_clock_mhz: that its processors never fall below under load.
        boost_clock_mhz: at which the peak rate is reached.
        board: the device whose rates these are, as the source names it, such as "Tesla T4".
        source: which of the catalogue's sources states this.
        other_sources: of the fields that another source states, by field.
    """

    name: str
    compute_capability: float | None = None
    fp32_tflops: float | None = None
    bandwidth_gb_s: float | None = None
    memory_gib: float | None = None
    base_clock_mhz: float | None = None
    boost_clock_mhz: float | None = None
    board: str | None = None
    source: str
    other_sources: dict[str, str] = {}

    def __post_init__(self) -> None:
        _check_name(self.name, "a GPU's name")
        for what in GPU_QUANTITIES:
            _check_quantity(getattr(self, what), f"GPU {self.name}: {what}")
        if self.board is not None:
            _check_name(self.board, f"GPU {self.name}: board")

    def source_of(self, field: str) -> str:
        """Return the source that states one of the fields."""
        return self.other_sources.get(field, self.source)


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an hour of an instance costs in one region, as one source states it.

    Args:
        region: None where the source does not tell.
        on_demand_per_hour: None where unknown.
        spot_per_hour: None where unknown.
        currency: its ISO 4217 code.
        date: day, month or year it was valid, as 2024-12-05, 2024-12 or 2021; None where unknown.
        source: which of the catalogue's sources states this.
    """

    region: str | None = None
    on_demand_per_hour: float | None = None
    spot_per_hour: float | None = None
    currency: str = DEFAULT_CURRENCY
    date: str | None = None
    source: str

    def __post_init__(self) -> None:
        if self.region is not None:
            _check_name(self.region, "a region")
        _check_quantity(self.on_demand_per_hour, "on_demand_per_hour")
        _check_quantity(self.spot_per_hour, "spot_per_hour")
        if self.currency not in CURRENCIES:
            raise ValueError(f"currency {self.currency[:20]!r} is unknown; known: {', '.join(sorted(CURRENCIES))}")
        if self.date is not None:
            last_day(self.date)

    def per_hour(self, spot: bool) -> float | None:
        """Return the price of an hour on the spot market or on demand; None where unknown."""
        return self.spot_per_hour if spot else self.on_demand_per_hour


class Instance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A machine type that can be rented or owned.

    Args:
        name: the provider's, unlike that of any other instance.
        provider: aws, gcp, azure, lambda, or the user's own word.
        gpu: name of its GPU; None for a machine without.
        gpu_count: how many of them; a fraction where a GPU is shared.
        gpu_memory_gib: of one GPU as this instance has it; of the part that it has where a GPU is shared.
        vcpus: virtual processors of the host.
        memory_gib: of the host.
        prices: one a region and source.
        source: which of the catalogue's sources states all but the prices.
    """

    name: str
    provider: str
    gpu: str | None = None
    gpu_count: float | None = None
    gpu_memory_gib: float | None = None
    vcpus: float | None = None
    memory_gib: float | None = None
    prices: tuple[Price, ...] = ()
    source: str

    def __post_init__(self) -> None:
        _check_name(self.name, "an instance's name")
        where = f"instance {self.name}"
        _check_name(self.provider, f"{where}: provider")
        if self.gpu is not None:
            _check_name(self.gpu, f"{where}: gpu")
        if (self.gpu is None) != (self.gpu_count is None):
            raise ValueError(f"{where}: gpu and gpu_count belong together; give both or neither")
        for what in ("gpu_count", "gpu_memory_gib", "vcpus", "memory_gib"):
            _check_quantity(getattr(self, what), f"{where}: {what}")

    @property
    def gpu_memory_total_gib(self) -> float | None:
        """Memory of all its GPUs together; None where unknown."""
        if self.gpu_memory_gib is None or self.gpu_count is None:
            return None
        return self.gpu_memory_gib * max(1.0, self.gpu_count)


@functools.lru_cache(maxsize=1024)
def last_day(date: str) -> datetime.date:
    """Return the last day of a date that may be a day, a month or a year.

    Raises:
        ValueError: it is none of these.

    >>> last_day("2024-02")
    datetime.date(2024, 2, 29)
    """
    match = _DATE.fullmatch(date)
    try:
        if match is None:
            raise ValueError
        year, month = int(match[1]), int(match[2] or 12)
        return datetime.date(year, month, int(match[3] or calendar.monthrange(year, month)[1]))
    except (ValueError, IndexError):
        raise ValueError(f"date {date[:20]!r} is none; write it as 2024-12-05, 2024-12 or 2024") from None


def _check_name(name: str, what: str) -> None:
    if not name or len(name) > LONGEST_NAME or name != name.strip() or not name.isprintable():
        raise ValueError(
            f"{what} is {name[:40]!r}; it has 1 to {LONGEST_NAME} printable characters, no space at its ends"
        )


def _check_quantity(value: float | None, what: str) -> None:
    if value is not None and not SMALLEST <= value <= LARGEST:
        raise ValueError(f"{what} is {value}; it is above zero and at most {LARGEST:g}, or null where unknown")
