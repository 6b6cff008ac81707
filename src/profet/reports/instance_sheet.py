"""Terminal tables and JSON facts of one instance: everything that is known, and who states it."""

import datetime
from typing import Any

import msgspec
from rich.table import Table

from profet.instances.catalogue import OWN_SOURCE, Catalogue, age_note
from profet.instances.instance import Instance, Price
from profet.reports.instance_tables import UNKNOWN, gpus_cell, number_cell, one_listed
from profet.reports.tables import plain


def instance_facts(catalogue: Catalogue, instance: Instance, today: datetime.date) -> dict[str, Any]:
    """Return all that is known of an instance, with who states it, as plain values for a JSON document."""
    gpu = catalogue.gpu(instance)
    prices = [{**msgspec.to_builtins(price), "age": age_note(price, today)} for price in instance.prices]
    named = [instance.source, *(price.source for price in instance.prices)]
    if gpu is not None:
        named += [gpu.source, *gpu.other_sources.values()]
    sources = [catalogue.sources[name] for name in dict.fromkeys(named) if name in catalogue.sources]
    return {
        **one_listed(catalogue, instance, None, today),
        "source": instance.source,
        "gpu_specs": None if gpu is None else msgspec.to_builtins(gpu),
        "prices": prices,
        "sources": [msgspec.to_builtins(source) for source in sources],
    }


def instance_tables(catalogue: Catalogue, instance: Instance, today: datetime.date) -> list[Table]:
    """Show the same as tables."""
    tables = [_facts_table(catalogue, instance)]
    if instance.prices:
        tables.append(_prices_table(instance, today))
    sources = instance_facts(catalogue, instance, today)["sources"]
    if sources:
        tables.append(_sources_table(sources))
    return tables


def _facts_table(catalogue: Catalogue, instance: Instance) -> Table:
    table = Table(title=f"{instance.name} of {instance.provider}; – is unknown", title_justify="left")
    table.add_column("fact")
    table.add_column("value", overflow="fold")
    table.add_column("source", overflow="fold")
    gpu = catalogue.gpu(instance)
    facts = [
        ("GPU", gpus_cell(msgspec.to_builtins(instance)), instance.source),
        ("memory of each GPU", number_cell(instance.gpu_memory_gib, "GiB"), instance.source),
        ("memory of all GPUs", number_cell(instance.gpu_memory_total_gib, "GiB"), instance.source),
        ("vCPUs", number_cell(instance.vcpus), instance.source),
        ("memory", number_cell(instance.memory_gib, "GiB"), instance.source),
    ]
    if gpu is not None:
        board = "" if gpu.board is None else f" (of {gpu.board})"
        for field, what, unit, of_board in (
            ("fp32_tflops", "peak float32 rate of one GPU", "TFLOP/s", board),
            ("bandwidth_gb_s", "peak memory bandwidth of one GPU", "GB/s", board),
            ("compute_capability", "compute capability", "", ""),
            ("base_clock_mhz", "base clock of its GPU", "MHz", ""),
            ("boost_clock_mhz", "boost clock of its GPU", "MHz", board),
        ):
            value = number_cell(getattr(gpu, field), unit)
            facts.append((what, value if value == UNKNOWN else value + of_board, gpu.source_of(field)))
    for what, value, source in facts:
        table.add_row(what, plain(value), plain("" if value == UNKNOWN else _by(source)))
    return table


def _prices_table(instance: Instance, today: datetime.date) -> Table:
    table = Table(title="An hour costs", title_justify="left")
    table.add_column("region", overflow="fold")
    table.add_column("on demand", justify="right")
    table.add_column("spot", justify="right")
    table.add_column("price", overflow="fold")
    table.add_column("source", overflow="fold")
    for price in instance.prices:
        age = age_note(price, today) or price.date or UNKNOWN
        cells = [_amount(price, spot) for spot in (False, True)]
        table.add_row(plain(price.region or UNKNOWN), *cells, plain(age), plain(_by(price.source)))
    return table


def _sources_table(sources: list[dict[str, Any]]) -> Table:
    table = Table(title="Sources", title_justify="left")
    for column in ("source", "what", "where", "licence", "date"):
        table.add_column(column, overflow="fold")
    for source in sources:
        table.add_row(*(plain(source[key] or UNKNOWN) for key in ("name", "what", "where", "licence", "date")))
    return table


def _by(source: str) -> str:
    return "typed in" if source == OWN_SOURCE else source


def _amount(price: Price, spot: bool) -> str:
    amount = price.per_hour(spot)
    return UNKNOWN if amount is None else f"{amount:.6g} {price.currency}"
