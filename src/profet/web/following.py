"""Follows a bundle's file: where another one is put in its place, the service goes on with that, without a pause.

Every process looks for itself, so that it works the same with one and with many, and needs no signal and no route.
"""

import logging
import threading
import time
from dataclasses import replace
from pathlib import Path

from fastapi import FastAPI

from profet.errors import ProfetError
from profet.web.service import BundleFile, Service, loaded_bundle

_EVERY_S = 1.0
_log = logging.getLogger("profet.web")


def follow_bundle(app: FastAPI) -> None:
    """Replace ``app.state.service`` whenever the file of its bundle has become another one that loads.

    Requests that have begun go on with the bundle that they began with. A file that does not load, or is not there,
    changes nothing but the log. The bundle that Profet ships is not followed: it changes with the program.
    """
    service: Service = app.state.service
    if service.settings.bundle_path is not None:
        arguments = (app, service.settings.bundle_path, service.bundle_file)
        threading.Thread(target=_follow, args=arguments, name="follow-bundle", daemon=True).start()


def _follow(app: FastAPI, path: str, used: BundleFile | None) -> None:
    before = used
    while True:
        time.sleep(_EVERY_S)
        now = BundleFile.found(path)
        settled = now == before  # a file that is still being copied is another one each time
        before = now
        if now is None or now == used or not settled:
            continue
        used = now
        _go_on_with(app, path)


def _go_on_with(app: FastAPI, path: str) -> None:
    name = Path(path).name
    try:
        bundle = loaded_bundle(path)
    except ProfetError as error:
        _log.error("%s; the service goes on with the bundle that it had", error)
    except Exception:
        _log.exception("%s does not load; the service goes on with the bundle that it had", name)
    else:
        app.state.service = replace(app.state.service, bundle=bundle)
        _log.info("goes on with the new %s, trained on data set %s", name, bundle.provenance.dataset)
