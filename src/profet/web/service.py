"""What every request of a service shares: predictors, instances and what was recorded, loaded once."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from starlette.requests import Request

from profet.instances.catalogue import Catalogue
from profet.predictors.bundle import Bundle
from profet.web.records import Records
from profet.web.settings import Settings
from profet.web.store import Store


@dataclass(frozen=True)
class BundleFile:
    """What tells a file from another one of its name, and from itself after a change."""

    device: int
    inode: int
    size: int
    changed_ns: int

    @classmethod
    def found(cls, path: str) -> Self | None:
        """Look at a file; None where it cannot be seen."""
        try:
            stat = Path(path).stat()
        except OSError:
            return None
        return cls(stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)


@dataclass(frozen=True)
class Service:
    """What a service answers from.

    Attributes:
        settings: as it was started.
        bundle: trained predictors.
        bundle_file: that they were read from; None for the shipped ones.
        catalogue: of instances.
        store: of what was recorded, keys and audit.
        records: what runs really took.
        slots: of processes for hard work; see work_beside.
        drawing: held while a report is made; drawing takes all of a core, and several at once take longer for all.
    """

    settings: Settings
    bundle: Bundle
    bundle_file: BundleFile | None
    catalogue: Catalogue
    store: Store
    records: Records
    slots: asyncio.Semaphore = field(repr=False)
    drawing: asyncio.Lock = field(repr=False)

    @classmethod
    def load(cls, settings: Settings) -> Self:
        """Read all that is needed to answer, so that no request waits for it.

        Raises:
            InputError, BundleError, OutputError: a file cannot be used.
        """
        path = settings.bundle_path
        bundle_file = None if path is None else BundleFile.found(path)  # before it is read: a later one is another
        bundle = loaded_bundle(path)
        catalogue, store = Catalogue.load(settings.catalogue_path), Store(settings.history_place)
        store.check()
        slots = asyncio.Semaphore(settings.limits.processes)
        return cls(settings, bundle, bundle_file, catalogue, store, Records(store), slots, asyncio.Lock())


def loaded_bundle(path: str | None) -> Bundle:
    """Read a bundle with all of its predictors.

    Raises:
        InputError, BundleError: it cannot be used.
    """
    bundle = Bundle.load(path)
    bundle.where = Path(bundle.where).name  # errors name it to people who must not know this machine's folders
    for pair in bundle.pairs:
        bundle.predictor(pair.anchor, pair.target)
    return bundle


def service_of(request: Request) -> Service:
    """Return the service that a request came to: the same one to its end, though another bundle may come."""
    if not hasattr(request.state, "service"):
        request.state.service = request.app.state.service
    service: Service = request.state.service
    return service
