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


@dataclass(frozen=True)
class Service:
    """What a service answers from.

    Attributes:
        settings: as it was started.
        bundle: trained predictors.
        catalogue: of instances.
        records: what runs really took.
        slots: of processes for hard work; see work_beside.
        drawing: held while a report is made; drawing takes all of a core, and several at once take longer for all.
    """

    settings: Settings
    bundle: Bundle
    catalogue: Catalogue
    records: Records
    slots: asyncio.Semaphore = field(repr=False)
    drawing: asyncio.Lock = field(repr=False)

    @classmethod
    def load(cls, settings: Settings) -> Self:
        """Read all that is needed to answer, so that no request waits for it.

        Raises:
            InputError, BundleError, OutputError: a file cannot be used.
        """
        bundle = Bundle.load(settings.bundle_path)
        bundle.where = Path(bundle.where).name  # errors name it to people who must not know this machine's folders
        for pair in bundle.pairs:
            bundle.predictor(pair.anchor, pair.target)
        catalogue, records = Catalogue.load(settings.catalogue_path), Records(settings.history_place)
        records.check()
        slots = asyncio.Semaphore(settings.limits.processes)
        return cls(settings, bundle, catalogue, records, slots, asyncio.Lock())


def service_of(request: Request) -> Service:
    """Return the service that a request came to."""
    service: Service = request.app.state.service
    return service
