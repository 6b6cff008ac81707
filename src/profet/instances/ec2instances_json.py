"""The instances.json of ec2instances.info: machines of AWS with the prices of every region, many cells text.

The prices are those of Linux, in the regions of China in CNY. GPU_memory is that of all GPUs of a machine together.
A price of "0" there means that none is known.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from profet.errors import InputError
from profet.files import read_bounded
from profet.instances.catalogue_file import Source
from profet.instances.gpu_names import gpu_name, is_gpu
from profet.instances.instance import Instance, Price
from profet.instances.price_list import PriceList, PriceReader, is_name, quantity

_MAX_BYTES = 512 * 2**20
_FORM = "ec2instances.info's instances.json is a list of objects with instance_type, GPU and pricing"


class _Prices(msgspec.Struct):
    ondemand: Any = None
    spot_min: Any = None
    spot_avg: Any = None


class _Region(msgspec.Struct):
    linux: _Prices | str | float | bool | list[Any] | None = None


class _Machine(msgspec.Struct):
    instance_type: str
    gpu_count: Any = msgspec.field(default=None, name="GPU")
    gpu_model: Any = msgspec.field(default=None, name="GPU_model")
    gpu_memory: Any = msgspec.field(default=None, name="GPU_memory")
    vcpus: Any = msgspec.field(default=None, name="vCPU")
    memory: Any = None
    pricing: dict[str, _Region | str | float | bool | list[Any] | None] | None = None


def read_ec2instances(path: str | Path, source: Source) -> PriceList:
    """Read the machines of AWS that have a GPU.

    The lowest spot price of a region's zones is taken, else their average.

    Args:
        path: the JSON; ``-`` is standard input.
        source: what records name as their source; its date is that of the prices.

    Raises:
        InputError: not readable, not that form, or no machine with a GPU in it.
    """
    content = read_bounded(path, _MAX_BYTES, "price list").removeprefix(b"\xef\xbb\xbf")
    try:
        machines = msgspec.json.decode(content, type=list[_Machine])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}; {_FORM}") from None
    except RecursionError:
        raise InputError(f"{path}: nested too deeply; {_FORM}") from None
    prices, left_out = PriceReader(), Counter[str]()
    found: dict[str, Instance] = {}
    for machine in machines:
        why = _unusable(machine)
        if why is None and machine.instance_type in found:
            why = "records of a name that stood before"
        if why is None:
            found[machine.instance_type] = _instance(machine, source, prices)
        else:
            left_out[why] += 1
    if not found:
        raise InputError(f"{path}: no machine with a GPU among {len(machines)}; {_FORM}")
    return PriceList(source, tuple(found.values()), len(machines), dict(left_out), tuple(prices.notes()))


def _unusable(machine: _Machine) -> str | None:
    """Say why a record cannot be used; None where it can."""
    if quantity(machine.gpu_count) is None:
        return "machines without a GPU"
    if not is_name(machine.instance_type) or not is_name(machine.gpu_model):
        return "machines whose name or GPU_model is missing, too long or cannot be printed"
    return None if is_gpu(machine.gpu_model) else "machines without a GPU"


def _instance(machine: _Machine, source: Source, prices: PriceReader) -> Instance:
    count = quantity(machine.gpu_count) or 1.0
    total_gib = quantity(machine.gpu_memory)
    memory_gib = None if total_gib is None else total_gib / max(1.0, count)
    offers = [_price(region, offer, source, prices) for region, offer in (machine.pricing or {}).items()]
    return Instance(
        name=machine.instance_type,
        provider="aws",
        gpu=gpu_name(machine.gpu_model, memory_gib, machine.instance_type),
        gpu_count=count,
        gpu_memory_gib=memory_gib,
        vcpus=quantity(machine.vcpus),
        memory_gib=quantity(machine.memory),
        prices=tuple(offer for offer in offers if offer is not None),
        source=source.name,
    )


def _price(region: str, offer: object, source: Source, prices: PriceReader) -> Price | None:
    """Return the price of a region; None where it has none for Linux."""
    if not is_name(region) or not isinstance(offer, _Region) or not isinstance(offer.linux, _Prices):
        return None
    on_demand = prices.price(offer.linux.ondemand, "ondemand")
    lowest = quantity(offer.linux.spot_min)
    spot = prices.price(offer.linux.spot_avg, "spot_avg") if lowest is None else lowest
    if on_demand is None and spot is None:
        return None
    return Price(
        region=region,
        on_demand_per_hour=on_demand,
        spot_per_hour=spot,
        currency="CNY" if region.startswith("cn-") else "USD",
        date=source.date,
        source=source.name,
    )
