"""Measurements: what runs really took, kept beside what was predicted, and in the hands of who sent it."""

import asyncio

from fastapi import APIRouter, Request, Response

from profet.errors import InputError
from profet.reports.history_tables import record_facts
from profet.web.answers import as_json
from profet.web.api.documented import answered, documented
from profet.web.api.fields import example_document
from profet.web.api.keeping import keep
from profet.web.api.measurement_documents import (
    MeasurementRequest,
    RecordedAnswer,
    RecordsAnswer,
    RemovedAnswer,
)
from profet.web.bodies import received
from profet.web.owner import Owner, check_own_site, owner_of, writer_of
from profet.web.problems import RefusedError
from profet.web.records import Records
from profet.web.service import service_of

router = APIRouter(tags=["measurements"])

_NOT_YOURS = "no measurement with this id is yours; send the key that it was stored with"
_EXAMPLES = {
    "what a step took on p3.2xlarge": {
        "profile": example_document(),
        "target": "p3.2xlarge",
        "latency": "61ms",
        "note": "driver 550",
    }
}
_DOCUMENTED = documented(MeasurementRequest, RecordedAnswer, _EXAMPLES, file="profile", may_lack_file=True)
_DOCUMENTED["responses"] |= answered(RecordedAnswer, 403, status=201)


@router.post("/measurements", **_DOCUMENTED)
async def record(request: Request) -> Response:
    """Keep what a step took, beside its prediction; the document of profet record --json.

    The profile itself is kept only with keep_profile. It needs a key that writes: with the same key you list and
    delete what you stored; with another one nobody can, unless it administers.
    """
    check_own_site(request)
    owner = writer_of(request)
    asked, upload = await received(request, MeasurementRequest)
    kept = await keep(service_of(request), asked, upload, owner)
    facts = {**record_facts(kept.measurement), "new": kept.new, "warnings": kept.warnings}
    return as_json(facts, 201 if kept.new else 200)


@router.get("/measurements", responses=answered(RecordsAnswer, 400, 503))
async def list_own(request: Request) -> Response:
    """List what you stored: the records of your key, or of your browser on this machine's pages; none without.

    A key that administers lists the records of all.
    """
    owner = owner_of(request)
    if owner is None:
        return as_json({"records": []})
    return await asyncio.to_thread(_listed, service_of(request).records, owner)


@router.delete("/measurements", responses=answered(RemovedAnswer, 400, 403, 503))
async def remove_all(request: Request) -> Response:
    """Forget all that you stored; a key that administers, too, forgets its own alone."""
    check_own_site(request)
    owner = writer_of(request)
    return as_json({"removed": await asyncio.to_thread(service_of(request).records.remove_all, owner.fingerprint)})


@router.delete("/measurements/{record_id}", responses=answered(RemovedAnswer, 400, 403, 404, 422, 503))
async def remove(request: Request, record_id: str) -> Response:
    """Forget one record that you stored; a key that administers forgets anyone's."""
    check_own_site(request)
    owner = writer_of(request)
    try:
        removed = await asyncio.to_thread(service_of(request).records.remove, [record_id], owner.sees)
    except InputError:
        raise RefusedError.not_found(_NOT_YOURS) from None
    return as_json({"removed": removed})


def _listed(records: Records, owner: Owner) -> Response:
    return as_json({"records": [record_facts(each) for each in records.own(owner.sees)]})
