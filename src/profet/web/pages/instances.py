"""The instances that are known, what an hour of them costs, and who says so."""

import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from profet.errors import ProfetError
from profet.instances.catalogue import Catalogue
from profet.reports.instance_sheet import instance_facts
from profet.reports.instance_tables import listed_facts
from profet.web.pages.page import Page, asked

router = APIRouter()


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


@router.get("/instances")
def show(page: Annotated[Page, Depends(asked)]) -> Response:
    """List instances, those that were asked for or all."""
    catalogue, today = page.service.catalogue, _today()
    gpu, provider, region = (page.fields.text(name) or None for name in ("gpu", "provider", "region"))
    nothing: dict[str, Any] = {"listed": [], "old": 0, "prices": 0, **_choices(catalogue)}
    try:
        listed = listed_facts(catalogue, catalogue.chosen(gpu, provider, region), region, today)
    except ProfetError as error:
        return page.refuse("instances.html", error, **nothing)
    prices = [price for each in listed for price in (each["on_demand"], each["spot"]) if price is not None]
    old = sum(price["age"] is not None for price in prices)
    return page.show("instances.html", **{**nothing, "listed": listed, "old": old, "prices": len(prices)})


def _choices(catalogue: Catalogue) -> dict[str, list[str]]:
    known = list(catalogue.instances.values())
    regions = {price.region for instance in known for price in instance.prices}
    return {
        "gpus": sorted({each.gpu for each in known if each.gpu is not None}),
        "providers": sorted({each.provider for each in known}),
        "regions": sorted(each for each in regions if each is not None),
    }


@router.get("/instances/{name:path}")
def show_one(page: Annotated[Page, Depends(asked)], name: str) -> Response:
    """Show all that is known of one instance."""
    catalogue = page.service.catalogue
    try:
        instance = catalogue.find(name)
    except ProfetError as error:
        nothing = {"listed": [], "old": 0, "prices": 0, **_choices(catalogue)}
        return page.show("instances.html", 404, error=page.tell(str(error)), **nothing)
    return page.show("instance.html", facts=instance_facts(catalogue, instance, _today()))
