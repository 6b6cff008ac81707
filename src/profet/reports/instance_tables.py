"""Terminal tables and JSON facts of instances: what they have, what an hour of them costs, and who says so."""

import datetime
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from profet.instances.catalogue import OWN_PROVIDER, Catalogue, age_note
from profet.instances.instance import Instance
from profet.quantities import DEFAULT_CURRENCY
from profet.reports.tables import plain

UNKNOWN = "–"


def listed_facts(
    catalogue: Catalogue, instances: Sequence[Instance], region: str | None, today: datetime.date
) -> list[dict[str, Any]]:
    """Return what is known of instances, each with the prices that count, as plain values for a JSON document."""
    return [one_listed(catalogue, instance, region, today) for instance in instances]


def one_listed(
    catalogue: Catalogue, instance: Instance, region: str | None, today: datetime.date
) -> dict[str, Any]:
    """Return what is known of one instance, with the prices that count."""
    gpu = catalogue.gpu(instance)
    return {
        "name": instance.name,
        "provider": instance.provider,
        "own": instance.name in catalogue.own,
        "gpu": instance.gpu,
        "gpu_count": instance.gpu_count,
        "gpu_memory_gib": instance.gpu_memory_gib,
        "gpu_memory_total_gib": instance.gpu_memory_total_gib,
        "vcpus": instance.vcpus,
        "memory_gib": instance.memory_gib,
        "fp32_tflops": None if gpu is None else gpu.fp32_tflops,
        "bandwidth_gb_s": None if gpu is None else gpu.bandwidth_gb_s,
        "on_demand": _price_facts(catalogue, instance, region, today, spot=False),
        "spot": _price_facts(catalogue, instance, region, today, spot=True),
    }


def _price_facts(
    catalogue: Catalogue, instance: Instance, region: str | None, today: datetime.date, spot: bool
) -> dict[str, Any] | None:
    """Return the price that counts, in USD where there is one; None where none is known."""
    for currency in dict.fromkeys((DEFAULT_CURRENCY, *(price.currency for price in instance.prices))):
        price = catalogue.price(instance, region, spot, currency)
        if price is not None:
            return {
                "per_hour": price.per_hour(spot),
                "currency": price.currency,
                "region": price.region,
                "date": price.date,
                "age": age_note(price, today),
                "source": price.source,
            }
    return None


def listed_table(facts: Sequence[dict[str, Any]]) -> Table:
    """List instances, one a line; the rates of their GPUs would make it too wide for most terminals."""
    table = Table(title="GPU instances; – is unknown", title_justify="left")
    table.add_column("instance", min_width=8)
    for column in ("provider", "GPU"):
        table.add_column(column)
    for column in ("GPU GiB", "vCPUs", "GiB", "an hour", "spot"):
        table.add_column(column, justify="right")
    table.add_column("prices are", overflow="fold")
    for each in facts:
        yours = each["own"] and each["provider"] != OWN_PROVIDER
        table.add_row(
            plain(each["name"]),
            plain(f"{each['provider']}, yours" if yours else each["provider"]),
            plain(gpus_cell(each)),
            number_cell(each["gpu_memory_gib"]),
            number_cell(each["vcpus"]),
            number_cell(each["memory_gib"]),
            _money(each["on_demand"]),
            _money(each["spot"]),
            plain(_places_and_ages(each["on_demand"], each["spot"])),
        )
    return table


def _places_and_ages(on_demand: dict[str, Any] | None, spot: dict[str, Any] | None) -> str:
    """Say where and when the prices of a line hold; once where it is the same for both."""
    told = [
        ", ".join(filter(None, (price["region"], price["age"] or price["date"])))
        for price in (on_demand, spot)
        if price is not None
    ]
    if len(told) == 2 and told[0] != told[1]:
        return f"{told[0]}; spot {told[1]}"
    return told[0] if told else UNKNOWN


def old_prices(facts: Sequence[dict[str, Any]]) -> list[str]:
    """Say how many of the prices that count are old or of unknown age."""
    prices = [price for each in facts for price in (each["on_demand"], each["spot"]) if price is not None]
    old = sum(price["age"] is not None for price in prices)
    if not old:
        return []
    return [f"{old} of {len(prices)} prices are old or of unknown age; profet instances import brings newer ones"]


def gpus_cell(facts: dict[str, Any]) -> str:
    """Show an instance's GPUs, as 4 × T4."""
    if facts["gpu"] is None:
        return UNKNOWN
    return str(facts["gpu"]) if facts["gpu_count"] == 1 else f"{facts['gpu_count']:g} × {facts['gpu']}"


def number_cell(value: float | None, unit: str = "") -> str:
    """Show a number with four significant digits, or that it is unknown."""
    return UNKNOWN if value is None else f"{value:.4g} {unit}".strip()


def _money(price: dict[str, Any] | None) -> str:
    return UNKNOWN if price is None else f"{price['per_hour']:.6g} {price['currency']}"
