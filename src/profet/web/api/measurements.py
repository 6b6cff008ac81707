"""Measurements: what runs really took, kept beside what was predicted, and in the hands of who sent it."""

import uuid
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from profet.errors import InputError
from profet.history.measurement import Measurement
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
from profet.web.auditing import audited
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
    kept = await keep(service_of(request), asked, upload, owner, audited(request, 201))
    facts = {**record_facts(kept.measurement), "new": kept.new, "warnings": kept.warnings}
    return as_json(facts, 201 if kept.new else 200)


@router.get("/measurements", responses=answered(RecordsAnswer, 400, 422, 503))
async def list_own(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    before: Annotated[str | None, Query(max_length=80)] = None,
) -> Response:
    """List what you stored: the records of your key, or of your browser on this machine's pages; none without.

    A key that administers lists the records of all. No more than limit are told, the newest; where there are more,
    older is what to send as before to be told those that come before.
    """
    owner, place = owner_of(request), None if before is None else _place(before)
    if owner is None:
        return as_json({"records": [], "older": None})
    return await run_in_threadpool(_listed, service_of(request).records, owner, limit, place)


@router.delete("/measurements", responses=answered(RemovedAnswer, 400, 403, 503))
async def remove_all(request: Request) -> Response:
    """Forget all that you stored; a key that administers, too, forgets its own alone."""
    check_own_site(request)
    owner = writer_of(request)
    records, also = service_of(request).records, audited(request, 200)
    return as_json({"removed": await run_in_threadpool(records.remove_all, owner.fingerprint, also)})


@router.delete("/measurements/{record_id}", responses=answered(RemovedAnswer, 400, 403, 404, 422, 503))
async def remove(request: Request, record_id: str) -> Response:
    """Forget one record that you stored; a key that administers forgets anyone's."""
    check_own_site(request)
    owner, records = writer_of(request), service_of(request).records
    try:
        removed = await run_in_threadpool(records.remove, [record_id], owner.sees, audited(request, 200))
    except InputError:
        raise RefusedError.not_found(_NOT_YOURS) from None
    return as_json({"removed": removed})


def _listed(records: Records, owner: Owner, limit: int, before: tuple[datetime, str] | None) -> Response:
    found = records.own(owner.sees, newest=limit + 1, before=before)
    shown = found[-limit:]
    older = _told_place(shown[0]) if len(found) > limit else None
    return as_json({"records": [record_facts(each) for each in shown], "older": older})


def _told_place(record: Measurement) -> str:
    """Return the place of a record in the list, which stays what it is when records come and go."""
    return f"{record.created.astimezone(UTC).replace(tzinfo=None).isoformat()}_{record.id}"


def _place(said: str) -> tuple[datetime, str]:
    """Read what _told_place wrote.

    Raises:
        InputError: it is none.
    """
    said_time, _, record = said.partition("_")
    try:
        moment, name = datetime.fromisoformat(said_time), str(uuid.UUID(record))
        if moment.tzinfo is not None:
            raise ValueError(said_time)
    except ValueError:
        raise InputError("before: is no place in the list; send what came as older") from None
    return moment.replace(tzinfo=UTC), name
