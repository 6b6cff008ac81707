"""Instances: the machine types that are known, and what an hour of them costs."""

import datetime
from typing import Annotated

import msgspec
from fastapi import APIRouter, Query, Request, Response

from profet.instances.catalogue_file import Source
from profet.instances.instance import Gpu
from profet.names import suggest
from profet.reports.instance_sheet import instance_facts
from profet.reports.instance_tables import listed_facts, old_prices
from profet.web.answers import as_json
from profet.web.api.documented import answered
from profet.web.problems import RefusedError
from profet.web.service import service_of

router = APIRouter(tags=["instances"])

Name = Annotated[str | None, Query(max_length=120)]


class PriceThatCounts(msgspec.Struct, frozen=True, kw_only=True):
    """The price of an hour: the newest of its region, and the lowest of all regions where none was named."""

    per_hour: float
    currency: str
    region: str | None
    date: str | None
    age: str | None
    source: str


class StatedPrice(msgspec.Struct, frozen=True, kw_only=True):
    """What one source states of an hour's price in one region."""

    region: str | None
    on_demand_per_hour: float | None
    spot_per_hour: float | None
    currency: str
    date: str | None
    source: str
    age: str | None


class ListedInstance(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one instance; null where nobody states it."""

    name: str
    provider: str
    own: bool
    gpu: str | None
    gpu_count: float | None
    gpu_memory_gib: float | None
    gpu_memory_total_gib: float | None
    vcpus: float | None
    memory_gib: float | None
    fp32_tflops: float | None
    bandwidth_gb_s: float | None
    on_demand: PriceThatCounts | None
    spot: PriceThatCounts | None


class InstancesAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """See profet instances list --json."""

    instances: list[ListedInstance]
    warnings: list[str]


class InstanceAnswer(ListedInstance, frozen=True, kw_only=True):
    """See profet instances show --json."""

    source: str
    gpu_specs: Gpu | None
    prices: list[StatedPrice]
    sources: list[Source]


@router.get("/instances", responses=answered(InstancesAnswer, 422))
async def list_instances(
    request: Request, gpu: Name = None, provider: Name = None, region: Name = None
) -> Response:
    """List instances with their GPUs and prices; the document of profet instances list --json."""
    catalogue = service_of(request).catalogue
    facts = listed_facts(catalogue, catalogue.chosen(gpu, provider, region), region, datetime.date.today())
    return as_json({"instances": facts, "warnings": old_prices(facts)})


@router.get("/instances/{name}", responses=answered(InstanceAnswer, 404, 422))
async def show_instance(request: Request, name: str) -> Response:
    """Show all that is known of one instance, and who states it; the document of profet instances show --json."""
    catalogue = service_of(request).catalogue
    if name not in catalogue.instances:
        raise RefusedError.not_found(
            f"instance {name[:80]!r} is not in the catalogue; {suggest(name, catalogue.instances)}"
        )
    return as_json(instance_facts(catalogue, catalogue.find(name), datetime.date.today()))
