"""An error that is ours: its visitor is told that it is none of theirs, and the log where it was, not with what."""

import json
import shutil
from pathlib import Path

import httpx
import pytest

import profet
from tests.store.serving import wait_until
from tests.web.test_operation import lines_of, logging_service


def test_an_unexpected_error_is_logged_with_kind_and_places_but_not_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "installed"
    shutil.copytree(Path(profet.__file__).parent, installed / "profet")
    monkeypatch.setenv("PYTHONPATH", str(installed))
    with logging_service(tmp_path) as (address, _, log):
        template = installed / "profet" / "web" / "templates" / "scale.html"
        template.write_text("{{ {}[fields.text('instance')] }}")  # raises an error with what was asked in its words
        answer = httpx.get(f"{address}/scale?instance=SecretInstance", timeout=60)
        assert answer.status_code == 500
        assert "not your fault" in answer.json()["detail"]
        assert "Secret" not in answer.text
        wait_until(lambda: '"event":"request"' in log.read_text())
        text, lines = log.read_text(), lines_of(log)
        assert httpx.get(f"{address}/predict", timeout=60).status_code == 200
    (failed,) = (each for each in lines if "exception" in each)
    assert (failed["level"], failed["exception"]) == ("error", "UndefinedError")
    assert f"{template}:1" in json.dumps(failed["places"])
    assert failed["request_id"] == answer.headers["X-Request-ID"]
    assert "Secret" not in text
    assert "Traceback" not in text
