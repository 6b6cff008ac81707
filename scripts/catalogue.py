"""Write the shipped catalogue of instances from quoted price lists and data sheets.

Usage: ``python scripts/catalogue.py DIR [-o FILE]``, where DIR holds the quoted tables and ``SOURCES.md``, which
says where each is from. Every fact is copied as it stands there; what stands nowhere stays null.

Left out, because their figures mean something else: ``skypilot_gcp.csv`` (prices of GPUs without their hosts) and
all of ``habitat_devices.csv`` but the compute capabilities and base clocks (bandwidths as measured, rates at base
clocks).
"""

import argparse
import csv
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from catalogue_sources import (
    AWS,
    BOARDS,
    DATA_SHEET_RATES,
    DATA_SHEETS,
    DEEPVIEW,
    DEMO,
    DEMO_PRICES,
    EC2,
    HABITAT,
    LAMBDA,
    NEUSIGHT,
)
from profet.instances.catalogue_file import CatalogueFile, Source
from profet.instances.gpu_names import gpu_name, is_gpu
from profet.instances.instance import Gpu, Instance, Price
from profet.instances.skypilot_csv import read_skypilot

OUTPUT = Path(__file__).resolve().parent.parent / "src" / "profet" / "data" / "instances.json"
PROVIDERS = ("aws", "gcp", "azure", "lambda")

Row = dict[str, str]


def rows(path: Path) -> list[Row]:
    """Return the rows of a quoted table."""
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def number(cell: str) -> float | None:
    """Return a cell's number; None where it is empty or zero, which no price and no rate is."""
    return float(cell) or None if cell.strip() else None


def ec2(table: list[Row]) -> Iterator[Instance]:
    """Read the GPUs of AWS instances; their memory is given of all GPUs together."""
    for row in table:
        if is_gpu(row["gpu"]):
            count = float(row["gpu_count"])
            memory_gib = float(row["gpu_memory_total_gib"]) / max(1.0, count)
            yield Instance(
                name=row["instance"],
                provider="aws",
                gpu=gpu_name(row["gpu"], memory_gib),
                gpu_count=count,
                gpu_memory_gib=memory_gib,
                source=EC2.name,
            )


def deepview(table: list[Row]) -> Iterator[Instance]:
    """Read on-demand prices; hosts to which Google Cloud adds GPUs get a name for each number of them."""
    for row in table:
        gpu, name = gpu_name(row["gpu"]), row["instance"]
        price = Price(on_demand_per_hour=number(row["usd_per_hour"]), date=DEEPVIEW.date, source=DEEPVIEW.name)
        yield Instance(
            name=f"{name}+{row['gpu_count']}x{gpu}" if name.startswith("n1-") else name,
            provider=row["provider"],
            gpu=gpu,
            gpu_count=number(row["gpu_count"]),
            vcpus=number(row["vcpus"]),
            memory_gib=number(row["memory_gib"]),
            prices=(price,),
            source=DEEPVIEW.name,
        )


def demo() -> Iterator[Instance]:
    """Return the prices of the four published instances."""
    for name, usd in DEMO_PRICES.items():
        price = Price(on_demand_per_hour=usd, date=DEMO.date, source=DEMO.name)
        yield Instance(name=name, provider="aws", prices=(price,), source=DEMO.name)


def merged(instances: Iterable[Instance]) -> list[Instance]:
    """Join instances of one name: facts of the first, prices of all."""
    facts: dict[str, Instance] = {}
    prices: dict[str, list[Price]] = {}
    for instance in instances:
        facts.setdefault(instance.name, instance)
        prices.setdefault(instance.name, []).extend(instance.prices)
    joined = [msgspec.structs.replace(one, prices=tuple(prices[one.name])) for one in facts.values()]
    return sorted(joined, key=lambda one: (PROVIDERS.index(one.provider), in_words_and_numbers(one.name)))


def in_words_and_numbers(name: str) -> list[tuple[str, int]]:
    """Return a key that sorts g4dn.xlarge before g4dn.2xlarge, and that before g4dn.12xlarge."""
    counted = name.replace(".large", ".0large").replace(".xlarge", ".1xlarge")
    return [(word, int(digits or 0)) for word, digits in re.findall(r"(\D*)(\d*)", counted)]


class GpuFacts:
    """Collects what sources say of GPUs; what a source says first counts."""

    def __init__(self) -> None:
        self._facts: dict[str, dict[str, tuple[float, str]]] = {}

    def state(self, name: str, field: str, value: float | None, source: Source) -> None:
        """Keep a fact of one GPU, unless it is unknown or an earlier source has stated it."""
        if value is not None:
            self._facts.setdefault(name, {}).setdefault(field, (value, source.name))

    def gpu(self, name: str) -> Gpu:
        """Join what was stated of one GPU; the source of its rates is named first."""
        facts = self._facts.get(name, {})
        main = next((source for _, source in facts.values()), DEEPVIEW.name)
        return msgspec.convert(
            {
                "name": name,
                **{field: value for field, (value, _) in facts.items()},
                "board": BOARDS.get(name),
                "source": main,
                "other_sources": {field: source for field, (_, source) in facts.items() if source != main},
            },
            Gpu,
        )


def gpus(instances: list[Instance], folder: Path) -> list[Gpu]:
    """Return what is known of every GPU that an instance has, or that has known rates."""
    facts = GpuFacts()
    devices = {row["device"]: row for row in rows(folder / "neusight_devices.csv")}
    for name, board in BOARDS.items():
        gflops = number(devices[board]["fp32_gflops"])
        facts.state(name, "fp32_tflops", None if gflops is None else gflops / 1000, NEUSIGHT)
        facts.state(name, "bandwidth_gb_s", number(devices[board]["bandwidth_gb_s"]), NEUSIGHT)
        facts.state(name, "boost_clock_mhz", number(devices[board]["mhz"]), NEUSIGHT)
    for name, (tflops, gb_s) in DATA_SHEET_RATES.items():
        facts.state(name, "fp32_tflops", tflops, DATA_SHEETS)
        facts.state(name, "bandwidth_gb_s", gb_s, DATA_SHEETS)
    for row in rows(folder / "ec2_gpus.csv"):
        if float(row["gpu_count"]) >= 1:  # rows of shared GPUs state another compute capability
            memory_gib = float(row["gpu_memory_total_gib"]) / float(row["gpu_count"])
            name = gpu_name(row["gpu"], memory_gib)
            facts.state(name, "compute_capability", number(row["compute_capability"]), EC2)
            facts.state(name, "memory_gib", memory_gib, EC2)
    for row in rows(folder / "habitat_devices.csv"):
        facts.state(row["device"], "compute_capability", number(row["compute_capability"]), HABITAT)
        facts.state(row["device"], "base_clock_mhz", number(row["base_mhz"]), HABITAT)
    for instance in instances:
        source = next((each for each in (AWS, LAMBDA) if each.name == instance.source), None)
        if source is not None and instance.gpu is not None:
            facts.state(instance.gpu, "memory_gib", instance.gpu_memory_gib, source)
    for name, board in BOARDS.items():
        facts.state(name, "memory_gib", number(devices[board]["memory_gb"]), NEUSIGHT)
    names = {instance.gpu for instance in instances if instance.gpu is not None} | set(BOARDS)
    return [facts.gpu(name) for name in sorted(names)]


def catalogue(folder: Path) -> CatalogueFile:
    """Return the catalogue of the tables in a folder."""
    instances = merged(
        [
            *read_skypilot(folder / "skypilot_aws.csv", "aws", AWS).instances,
            *read_skypilot(folder / "skypilot_lambda.csv", "lambda", LAMBDA).instances,
            *ec2(rows(folder / "ec2_gpus.csv")),
            *deepview(rows(folder / "deepview_prices.csv")),
            *demo(),
        ]
    )
    sources = (DEMO, DATA_SHEETS, AWS, LAMBDA, EC2, DEEPVIEW, NEUSIGHT, HABITAT)
    return CatalogueFile(sources=sources, gpus=tuple(gpus(instances, folder)), instances=tuple(instances))


def main() -> None:
    """Read the folder named on the command line and write the catalogue."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT)
    options = parser.parse_args()
    made = catalogue(options.folder)
    made.save(options.output, force=True)
    print(f"wrote {options.output}: {len(made.instances)} instances, {len(made.gpus)} GPUs")


if __name__ == "__main__":
    main()
