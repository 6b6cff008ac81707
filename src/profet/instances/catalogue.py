"""All instances that are known: those that ship with Profet, and the user's own."""

import datetime
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from profet.data_folder import data_folder
from profet.errors import InputError
from profet.instances.catalogue_file import (
    CatalogueFile,
    Source,
    read_catalogue_file,
    shipped_catalogue_file,
)
from profet.instances.gpu_names import gpu_name
from profet.instances.instance import Gpu, Instance, Price, last_day
from profet.names import suggest
from profet.quantities import DEFAULT_CURRENCY

OWN_SOURCE = "own"
"""What records name as their source that the user typed in."""

OWN_PROVIDER = "own"
"""Provider of machines that are not rented."""

_OLD_DAYS = 180
_NOTHING = CatalogueFile()


@dataclass(frozen=True)
class Catalogue:
    """Instances, GPUs and sources by name; the user's own win over shipped ones of the same name.

    Attributes:
        gpus: by name.
        instances: by name.
        sources: by name.
        own: names of the instances that are the user's own.
    """

    gpus: Mapping[str, Gpu]
    instances: Mapping[str, Instance]
    sources: Mapping[str, Source]
    own: frozenset[str] = frozenset()

    @classmethod
    def load(cls, path: str | Path | None = None) -> Self:
        """Return the shipped instances with the user's own.

        Args:
            path: the file with the user's own; by default own_path(), which need not be there.

        Raises:
            InputError: the user's file cannot be read, is damaged or of a newer version.
        """
        if path is None and not os.path.lexists(own_path()):
            return cls.shipped()
        return cls.shipped(read_catalogue_file(own_path() if path is None else path))

    @classmethod
    def shipped(cls, own: CatalogueFile = _NOTHING) -> Self:
        """Return the shipped instances, with others that win over them."""
        shipped = shipped_catalogue_file()
        return cls(
            gpus={gpu.name: gpu for gpu in (*shipped.gpus, *own.gpus)},
            instances={instance.name: instance for instance in (*shipped.instances, *own.instances)},
            sources={source.name: source for source in (*shipped.sources, *own.sources)},
            own=frozenset(instance.name for instance in own.instances),
        )

    def find(self, name: str) -> Instance:
        """Return an instance.

        Raises:
            InputError: it is unknown; the nearest names are told.
        """
        if name not in self.instances:
            raise InputError(f"instance {name[:80]!r} is not in the catalogue; {suggest(name, self.instances)}")
        return self.instances[name]

    def gpu(self, instance: Instance) -> Gpu | None:
        """Return what is known of an instance's GPU; None where it has none, or nothing is known."""
        return None if instance.gpu is None else self.gpus.get(instance.gpu)

    def price(
        self,
        instance: Instance,
        region: str | None = None,
        spot: bool = False,
        currency: str = DEFAULT_CURRENCY,
    ) -> Price | None:
        """Return what counts as the price of an instance; None where it is unknown.

        Of several prices of one region the newest counts, and one of unknown age only where none has a date. With a
        region that is the answer; a price without a region is none for it, unless the user typed it in (it then
        holds everywhere). Without a region the lowest of the regions' prices counts, the newest of equal ones.

        Args:
            instance: one of this catalogue.
            region: as its provider names it; None for any.
            spot: whether the price on the spot market is asked for.
            currency: its ISO 4217 code; nothing is converted.
        """
        newest: dict[str | None, Price] = {}
        for price in instance.prices:
            if price.currency == currency and price.per_hour(spot) is not None:
                known = newest.get(price.region)
                if known is None or _day(price) > _day(known):
                    newest[price.region] = price
        if region is not None:
            everywhere = newest.get(None)
            typed_in = everywhere if everywhere is not None and everywhere.source == OWN_SOURCE else None
            return newest.get(region, typed_in)
        return min(newest.values(), key=lambda each: (each.per_hour(spot), -_day(each)), default=None)

    def chosen(
        self, gpu: str | None = None, provider: str | None = None, region: str | None = None
    ) -> list[Instance]:
        """Return the instances with a GPU, of a provider and with a price in a region; all where none is named.

        Raises:
            InputError: a name that no instance has; says the nearest ones.
        """
        found = list(self.instances.values())
        if gpu is not None:
            names = {each.gpu for each in found if each.gpu is not None}
            wanted = {gpu.lower(), gpu_name(gpu).lower()}
            if not wanted & {name.lower() for name in names}:
                raise InputError(f"--gpu {gpu[:40]!r}: no instance has it; {suggest(gpu, names)}")
            found = [each for each in found if each.gpu is not None and each.gpu.lower() in wanted]
        if provider is not None:
            providers = {each.provider for each in self.instances.values()}
            if provider.lower() not in {each.lower() for each in providers}:
                raise InputError(
                    f"--provider {provider[:40]!r}: no instance is of it; {suggest(provider, providers)}"
                )
            found = [each for each in found if each.provider.lower() == provider.lower()]
        if region is not None:
            self.check_region(region)
            found = [each for each in found if self._has_price(each, region)]
        return found

    def _has_price(self, instance: Instance, region: str) -> bool:
        """Whether a price in a region counts, in any currency, on demand or on the spot market."""
        currencies = {price.currency for price in instance.prices}
        ways = ((spot, currency) for spot in (False, True) for currency in currencies)
        return any(self.price(instance, region, spot, currency) is not None for spot, currency in ways)

    def check_region(self, region: str) -> None:
        """Refuse a region in which no instance has a price.

        Raises:
            InputError: says the nearest regions.
        """
        regions = {price.region for instance in self.instances.values() for price in instance.prices}
        if region not in regions:
            known = [each for each in regions if each is not None]
            raise InputError(f"region {region[:80]!r}: no instance has a price there; {suggest(region, known)}")


def own_path() -> Path:
    """Return the file with the user's own instances; it need not be there."""
    return data_folder() / "instances.json"


def age_note(price: Price, today: datetime.date) -> str | None:
    """Say that a price is old, or of unknown age; None where it is under 180 days old.

    >>> age_note(Price(on_demand_per_hour=0.9, date="2021", source="demo"), datetime.date(2026, 1, 1))
    'of 2021: old'
    """
    if price.date is None:
        return "of unknown age"
    return f"of {price.date}: old" if (today - last_day(price.date)).days >= _OLD_DAYS else None


def _day(price: Price) -> int:
    return 0 if price.date is None else last_day(price.date).toordinal()
