"""What a run really took: kept beside its prediction, seen and deleted by who stored it."""

import uuid
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from fastapi.concurrency import run_in_threadpool

from profet.errors import InputError, OutputError, ProfetError
from profet.history.measurement import Measurement, new_id
from profet.web.api.keeping import keep
from profet.web.api.measurement_documents import MeasurementRequest
from profet.web.auditing import audited
from profet.web.owner import Owner, check_own_site, new_owner, owner_of
from profet.web.pages.page import Page, asked
from profet.web.pages.profile_source import read_options, read_profile, sent_profile

router = APIRouter()

_MOST_ROWS = 200


def _owner(page: Page) -> Owner | None:
    """Return who asks; a request that another site sent in the visitor's name is nobody's.

    Raises:
        RefusedError: it was to change something.
    """
    if page.posted:
        check_own_site(page.request)
    return owner_of(page.request)


def _listed(owner: Owner | None, error: ProfetError) -> Owner | None:
    """Return whose records a page lists beside an error; nobody's where they are what cannot be reached."""
    return None if isinstance(error, OutputError) else owner


async def _context(page: Page, owner: Owner | None) -> dict[str, Any]:
    """Return what the page shows besides an answer: choices of the form, and what its visitor stored."""
    catalogue, bundle = page.service.catalogue, page.service.bundle
    records: list[Measurement] = []
    stored = 0
    if owner is not None and not owner.new_token:
        own = page.service.records.own
        stored = len(await run_in_threadpool(own, owner.fingerprint))
        records = await run_in_threadpool(own, owner.fingerprint, profiles=True, newest=_MOST_ROWS)
    return {
        "anchors": bundle.anchors,
        "known": sorted({*catalogue.instances, *(pair.target for pair in bundle.pairs)}),
        "records": records[::-1],
        "stored": stored,
        "source": None,
        "kept": None,
        "id": new_id(),
    }


@router.api_route("/measure", methods=["GET", "POST"])
async def show(page: Annotated[Page, Depends(asked)]) -> Response:
    """Show the form and what its visitor stored; keep what came with it."""
    owner = None
    try:
        owner = _owner(page)
        if not page.posted or "latency" not in page.fields:
            source = await read_profile(page)
            return await page.answer("measure.html", **{**await _context(page, owner), "source": source})
        page.visitor.to_write()
        owner = owner or new_owner()
        kept = await keep(page.service, _request(page), sent_profile(page), owner, audited(page.request, 201))
    except ProfetError as error:
        return page.refuse("measure.html", error, **await _context(page, _listed(owner, error)))
    context = {**await _context(page, replace(owner, new_token="")), "kept": kept}
    response = await page.answer("measure.html", 201 if kept.new else 200, **context)
    return owner.told(response, page.request)


def _request(page: Page) -> MeasurementRequest:
    fields = page.fields
    if "target" not in fields:
        raise InputError("--target: is missing; say on which instance the run was measured")
    return MeasurementRequest(
        target=fields.text("target"),
        latency=fields.text("latency"),
        anchor=fields.text("anchor") or None,
        anchor_latency=fields.text("anchor_latency") or None,
        steps=read_options(page).steps,
        measured_steps=fields.whole("measured_steps"),
        batch_size=fields.whole("batch_size"),
        note=fields.text("note") or None,
        keep_profile="keep_profile" in fields,
        force="force" in fields,
        again="again" in fields,
        id=fields.text("id") or None,
    )


@router.post("/measure/remove")
async def remove(page: Annotated[Page, Depends(asked)]) -> Response:
    """Forget a record, or all of them."""
    owner, records, also = None, page.service.records, audited(page.request, 303)
    try:
        owner = _owner(page)
        if owner is not None and "all" in page.fields:
            await run_in_threadpool(records.remove_all, owner.fingerprint, also)
        elif owner is not None:
            await run_in_threadpool(records.remove, page.fields.all("id"), owner.fingerprint, also)
    except ProfetError as error:
        return page.refuse("measure.html", error, **await _context(page, _listed(owner, error)))
    return page.redirect("/measure")


@router.get("/measure/{record}/profile.json")
async def stored_profile(page: Annotated[Page, Depends(asked)], record: uuid.UUID) -> Response:
    """Give a stored profile back to who stored it."""
    owner = owner_of(page.request)
    wanted = {"profiles": True, "ids": [str(record)]}
    own = page.service.records.own
    found = [] if owner is None else await run_in_threadpool(own, owner.fingerprint, **wanted)
    profile = next((each.profile for each in found), None)
    if profile is None:
        return page.redirect("/measure")
    headers = {"Content-Disposition": 'attachment; filename="profile.json"', "Cache-Control": "no-store"}
    return Response(profile, headers=headers, media_type="application/json")
