"""The user's own instances: adding, removing, and merging what was read from price lists."""

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import msgspec

from profet.data_folder import alone, make_folder
from profet.errors import InputError
from profet.files import check_output
from profet.instances.catalogue import OWN_SOURCE, Catalogue, own_path
from profet.instances.catalogue_file import CatalogueFile, read_catalogue_file
from profet.instances.instance import Gpu, Instance, Price
from profet.instances.price_list import PriceList
from profet.names import suggest


@dataclass(frozen=True)
class Merged:
    """What a price list changed in the user's file.

    Attributes:
        path: the file.
        added: names that are new in it.
        replaced: names whose facts and prices were brought up to date.
        left_out: how many records of the list were not used, by reason.
    """

    path: Path
    added: tuple[str, ...]
    replaced: tuple[str, ...]
    left_out: dict[str, int]


def check_own(path: str | Path | None = None) -> Path:
    """Return the file of the user's own instances, checked before any work is done for it; its folder is made.

    Raises:
        InputError: the file is damaged.
        OutputError: it cannot be written.
    """
    target = own_path() if path is None else Path(path)
    if path is None:
        make_folder(target.parent)
    check_output(target, force=True)
    _read(target)
    return target


def known_with(path: Path) -> Catalogue:
    """Return the shipped instances with those of a file of the user's own that may not be there yet.

    Raises:
        InputError: the file is damaged.
    """
    return Catalogue.shipped(_read(path))


def told_gpu(path: Path, instance: Instance, fp32_tflops: float | None, bandwidth_gb_s: float | None) -> Gpu | None:
    """Return what is known of a machine's GPU with what the user tells of it; None where nothing is known.

    Raises:
        InputError: another source states another rate, or the file is damaged.
    """
    if instance.gpu is None:
        return None
    told = {"fp32_tflops": fp32_tflops, "bandwidth_gb_s": bandwidth_gb_s}
    given = {field: value for field, value in told.items() if value is not None}
    known = known_with(path).gpu(instance)
    if known is None:
        new = Gpu(name=instance.gpu, memory_gib=instance.gpu_memory_gib, source=OWN_SOURCE)
        return msgspec.structs.replace(new, **given) if given else None
    for field, value in given.items():
        stated, source = getattr(known, field), known.source_of(field)
        if stated not in {None, value} and source != OWN_SOURCE:
            raise InputError(
                f"--{field.replace('_', '-')}: {stated:g} is known of {known.name} ({source});"
                " leave it out, or give your GPU another name"
            )
    others = {**known.other_sources, **dict.fromkeys(given, OWN_SOURCE)}
    return msgspec.structs.replace(known, **given, other_sources=others)


def add_instance(path: Path, instance: Instance, gpu: Gpu | None = None, force: bool = False) -> bool:
    """Add a machine of the user's, with its GPU where the user told of it; return whether one was replaced.

    Raises:
        InputError: the name is taken and force is not given, or the file is damaged.
        OutputError: it cannot be written.
    """
    with alone(path.parent):
        kept = _read(path)
        gpus = {each.name: each for each in kept.gpus}
        if gpu is not None and OWN_SOURCE in {gpu.source, *gpu.other_sources.values()}:
            gpus[gpu.name] = gpu
        instances = {each.name: each for each in kept.instances}
        known = instance.name in instances
        if not force:
            _refuse_taken(instance.name, known)
        instances[instance.name] = instance
        msgspec.structs.replace(kept, gpus=tuple(gpus.values()), instances=tuple(instances.values())).save(
            path, force=True
        )
    return known


def _refuse_taken(name: str, own: bool) -> None:
    if own:
        raise InputError(f"instance {name[:80]!r} is already among your own; choose another name, or use --force")
    if _ships(name):
        raise InputError(
            f"instance {name[:80]!r} ships with Profet; choose another name, or --force yours to win over it"
        )


def remove_instance(path: Path, name: str) -> None:
    """Take one of the user's own machines out of the file.

    Raises:
        InputError: it is not there, or the file is damaged.
        OutputError: it cannot be written.
    """
    with alone(path.parent):
        kept = _read(path)
        left = tuple(each for each in kept.instances if each.name != name)
        if len(left) == len(kept.instances):
            why = "it ships with Profet" if _ships(name) else suggest(name, [each.name for each in left])
            raise InputError(f"instance {name[:80]!r} is not among your own; {why}")
        msgspec.structs.replace(kept, instances=left).save(path, force=True)


def merge(path: Path, prices: PriceList) -> Merged:
    """Bring a price list into the user's file: facts by name, prices by name, region and currency.

    Machines that the user typed in, and those of another provider with the same name, stay as they are.

    Raises:
        InputError: the file is damaged.
        OutputError: it cannot be written.
    """
    added: list[str] = []
    replaced: list[str] = []
    left_out = Counter(prices.left_out)
    with alone(path.parent):
        kept = _read(path)
        instances = {each.name: each for each in kept.instances}
        for new in prices.instances:
            old = instances.get(new.name)
            why = None if old is None else _protected(old, new)
            if why is not None:
                left_out[why] += 1
                continue
            (added if old is None else replaced).append(new.name)
            instances[new.name] = new if old is None else _updated(old, new)
        sources = {**{each.name: each for each in kept.sources}, prices.source.name: prices.source}
        made = msgspec.structs.replace(kept, sources=tuple(sources.values()), instances=tuple(instances.values()))
        made.save(path, force=True)
    return Merged(path, tuple(added), tuple(replaced), dict(left_out))


def _protected(old: Instance, new: Instance) -> str | None:
    if OWN_SOURCE in {old.source, *(price.source for price in old.prices)}:
        return "machines that you typed in (profet instances remove NAME lets the list's take their place)"
    return "machines named as one of another provider in your file" if old.provider != new.provider else None


def _updated(old: Instance, new: Instance) -> Instance:
    places = {_place(price) for price in new.prices}
    kept = tuple(price for price in old.prices if _place(price) not in places)
    return msgspec.structs.replace(new, prices=(*kept, *new.prices))


def _place(price: Price) -> tuple[str | None, str]:
    return price.region, price.currency


def _read(path: Path) -> CatalogueFile:
    return read_catalogue_file(path) if os.path.lexists(path) else CatalogueFile()  # a link to nothing is no file


def _ships(name: str) -> bool:
    return name in Catalogue.shipped().instances
