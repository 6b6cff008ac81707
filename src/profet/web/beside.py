"""Hard work beside the requests: in a process that is ended where it takes too long or too much."""

import asyncio
import os
import sys
import tempfile
from http import HTTPStatus

import msgspec

from profet.errors import InputError
from profet.web.hard_work import Answer, PlanQuestion, Question, ReadQuestion
from profet.web.problems import RefusedError
from profet.web.service import Service
from profet.web.settings import SETTINGS_VARIABLE

_MIB = 1024 * 1024
_SECRET = frozenset((SETTINGS_VARIABLE, "PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE"))


async def work_beside(service: Service, question: Question, content: bytes = b"") -> Answer:
    """Have a question answered in a process of its own; its files go with it.

    Args:
        service: whose limits hold; only so many questions are worked on at a time.
        question: what to do.
        content: the file that it is about.

    Raises:
        InputError: what the work itself raised.
        RefusedError: it takes more time or memory than a request has.
    """
    limits = service.settings.limits
    async with service.slots:
        with tempfile.TemporaryDirectory(prefix="profet-") as folder:
            answer = await _talk(service, question, content, folder)
    if not answer:
        raise RefusedError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"{_name(question)} takes more than {limits.work_seconds:g} s or {limits.work_bytes // _MIB} MiB",
        )
    found = msgspec.json.decode(answer, type=Answer)
    if found.error:
        raise InputError(found.error)
    return found


def _name(question: Question) -> str:
    if isinstance(question, ReadQuestion):
        return f"{question.where}: record fewer steps, or send what profet convert makes of it; reading it"
    if isinstance(question, PlanQuestion):
        return "batch: ask for a smaller one, fewer units or no all_subsets; planning it"
    return f"{question.where}: send what profet partition import makes of it; reading it"


def environment(folder: str) -> dict[str, str]:
    """Return the variables of a process that reads what strangers sent: ours, without what opens the store."""
    kept = {name: value for name, value in os.environ.items() if name not in _SECRET}
    return {**kept, "TMPDIR": folder, "OPENBLAS_NUM_THREADS": "1", "PROMETHEUS_MULTIPROC_DIR": folder}


async def _talk(service: Service, question: Question, content: bytes, folder: str) -> bytes:
    """Return what the process answers; nothing where it was ended."""
    limits = service.settings.limits
    asked = msgspec.json.encode(question) + b"\n" + content
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "profet.web.hard_work", str(limits.work_bytes), str(limits.work_seconds)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the server, which still answers what has begun
        env=environment(folder),
    )
    try:
        answer, _ = await asyncio.wait_for(process.communicate(asked), limits.work_seconds)
    except TimeoutError:
        return b""
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode is not None and process.returncode > 0:  # below zero: the system ended it
        raise RuntimeError(f"{type(question).__name__} failed in its process, which says why above")
    return answer
