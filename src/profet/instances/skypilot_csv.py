"""SkyPilot's catalogue CSV: one row a machine type and zone, prices in USD an hour."""

import csv
import functools
import io
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from profet.errors import InputError
from profet.files import read_bounded
from profet.instances.catalogue_file import Source
from profet.instances.gpu_names import gpu_name, is_gpu
from profet.instances.instance import Instance, Price
from profet.instances.price_list import PriceList, PriceReader, is_name, lower, quantity
from profet.names import suggest
from profet.printable import one_line

_MAX_BYTES = 512 * 2**20
_MIB_PER_GIB = 1024
_NEEDED = ("InstanceType", "AcceleratorName", "AcceleratorCount", "Region", "Price")
_OPTIONAL = ("vCPUs", "MemoryGiB", "SpotPrice", "GpuInfo")
_NUMBERS = {2, 4, 5, 6, 7}  # of the columns above
_DELIMITERS = (",", ";", "\t")
_GPU_MEMORY = re.compile(r"SizeInMiB['\"]?\s*:\s*(\d{1,9})", re.ASCII)


@dataclass
class _Machine:
    """What the rows of one machine type say: facts of the first, the lowest prices of each region."""

    gpu: str
    gpu_count: float
    gpu_memory_gib: float | None
    vcpus: float | None
    memory_gib: float | None
    on_demand: dict[str | None, float | None] = field(default_factory=dict)
    spot: dict[str | None, float | None] = field(default_factory=dict)


@dataclass
class _Table:
    """Collects machines row by row, and counts what cannot be used."""

    columns: dict[str, int]
    decimal_commas: bool
    machines: dict[str, _Machine] = field(default_factory=dict)
    prices: PriceReader = field(default_factory=PriceReader)
    left_out: Counter[str] = field(default_factory=Counter)
    records: int = 0
    joined: int = 0

    def __post_init__(self) -> None:
        self._places = [self.columns.get(name, -1) for name in (*_NEEDED, *_OPTIONAL)]
        self._width = max(self._places) + 1

    def add(self, row: list[str]) -> None:
        """Take a row in, or count why not."""
        self.records += 1
        cells = (
            [row[place].strip() if place >= 0 else "" for place in self._places] if len(row) >= self._width else []
        )
        if self.decimal_commas:
            cells = [cell.replace(",", ".") if place in _NUMBERS else cell for place, cell in enumerate(cells)]
        why = _unusable(*cells[:4]) if cells else "rows that end too early"
        if why is not None:
            self.left_out[why] += 1
            return
        name, region = cells[0], cells[3] or None
        machine = self.machines.get(name)
        if machine is None:
            machine = self.machines[name] = _machine(cells)
        self.joined += region in machine.on_demand
        machine.on_demand[region] = lower(machine.on_demand.get(region), self.prices.price(cells[4], "Price"))
        if "SpotPrice" in self.columns:
            machine.spot[region] = lower(machine.spot.get(region), self.prices.price(cells[7], "SpotPrice"))

    def notes(self) -> list[str]:
        """Say what a reader of the list should know."""
        missing = [f"column {name} is missing: unknown" for name in _OPTIONAL[:3] if name not in self.columns]
        joined = f"{self.joined} rows name a machine and region again: of its zones the lowest prices were taken"
        return [*missing, *([joined] if self.joined else []), *self.prices.notes()]


def read_skypilot(path: str | Path, provider: str, source: Source) -> PriceList:
    """Read SkyPilot's catalogue of one provider.

    Rows without a machine's name (prices of GPUs without their hosts) or without a GPU are left out. Of a region's
    zones the lowest price of each kind is taken, on demand and on the spot market.

    Args:
        path: the CSV; ``-`` is standard input.
        provider: whose machines they are.
        source: what records name as their source; its date is that of the prices.

    Raises:
        InputError: not readable, not such a table, or no machine with a GPU in it.
    """
    content = read_bounded(path, _MAX_BYTES, "price list")
    where = str(path)
    try:
        return _read(content, where, provider, source)
    except (UnicodeDecodeError, csv.Error) as error:
        why = "not text in UTF-8" if isinstance(error, UnicodeDecodeError) else f"not a CSV table ({error})"
        raise InputError(f"{where}: {why}; give SkyPilot's vms.csv as it is") from None


def _read(content: bytes, where: str, provider: str, source: Source) -> PriceList:
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
    header = text.readline()
    delimiter = max(_DELIMITERS, key=header.count)
    columns = _columns(next(csv.reader([header], delimiter=delimiter), []), where)
    table = _Table(columns, decimal_commas=delimiter == ";")
    for row in csv.reader(text, delimiter=delimiter):
        if row:
            table.add(row)
    if not table.machines:
        why = "; ".join(f"{count} {reason}" for reason, count in table.left_out.items()) or "no row"
        raise InputError(f"{where}: no machine with a GPU in it ({why})")
    instances = tuple(_instance(name, machine, provider, source) for name, machine in table.machines.items())
    return PriceList(source, instances, table.records, dict(table.left_out), tuple(table.notes()))


def _columns(header: list[str], where: str) -> dict[str, int]:
    """Return the place of every column, whatever its upper and lower case.

    Raises:
        InputError: one is missing or stands twice.
    """
    found = [name.strip() for name in header]
    lowered = [name.lower() for name in found]
    columns = {name: lowered.index(name.lower()) for name in (*_NEEDED, *_OPTIONAL) if name.lower() in lowered}
    twice = next((name for name in columns if lowered.count(name.lower()) > 1), None)
    if twice is not None:
        raise InputError(f"{where}: column {twice} stands twice; keep one of them")
    missing = [name for name in _NEEDED if name not in columns]
    if missing:
        others = [one_line(name[:40]) for name in found if name]
        near = f"for {missing[0]} {suggest(missing[0], others)}" if others else "the first line is empty"
        raise InputError(
            f"{where}: no column {', '.join(missing)} ({near}); a SkyPilot catalogue has {', '.join(_NEEDED)}"
        )
    return columns


@functools.lru_cache(maxsize=65536)
def _unusable(name: str, accelerator: str, count: str, region: str) -> str | None:
    """Say why a row cannot be used; None where it can."""
    if not name:
        return "rows without InstanceType (a GPU without its host, or nothing)"
    if not accelerator or not is_gpu(accelerator):
        return "rows without a GPU"
    if not is_name(name) or not is_name(accelerator) or not (region == "" or is_name(region)):
        return "rows with a name that is too long or cannot be printed"
    return "rows whose AcceleratorCount is no number above zero" if quantity(count) is None else None


def _machine(cells: list[str]) -> _Machine:
    name, accelerator, count, _, _, vcpus, memory, _, info = cells
    match = _GPU_MEMORY.search(info)
    memory_gib = quantity(int(match[1]) / _MIB_PER_GIB) if match else None
    return _Machine(
        gpu=gpu_name(accelerator, memory_gib, name),
        gpu_count=float(count),
        gpu_memory_gib=memory_gib,
        vcpus=quantity(vcpus),
        memory_gib=quantity(memory),
    )


def _instance(name: str, machine: _Machine, provider: str, source: Source) -> Instance:
    offers = ((region, price, machine.spot.get(region)) for region, price in machine.on_demand.items())
    return Instance(
        name=name,
        provider=provider,
        gpu=machine.gpu,
        gpu_count=machine.gpu_count,
        gpu_memory_gib=machine.gpu_memory_gib,
        vcpus=machine.vcpus,
        memory_gib=machine.memory_gib,
        prices=tuple(
            Price(region=region, on_demand_per_hour=price, spot_per_hour=spot, date=source.date, source=source.name)
            for region, price, spot in offers
            if price is not None or spot is not None
        ),
        source=source.name,
    )
