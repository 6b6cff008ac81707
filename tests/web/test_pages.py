"""The pages as a browser without scripts gets them: forms in, HTML out, nothing kept and nothing leaked."""

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra 'web' is not installed")

import httpx

from tests.conftest import Run, document
from tests.web.conftest import started

PATHS = (
    "/predict",
    "/advise",
    "/scale",
    "/partition",
    "/instances",
    "/instances/g4dn.xlarge",
    "/measure",
    "/history",
)
ANSWERED = (
    "/predict?profile=example",
    "/advise?profile=example&samples=1.28M&epochs=90",
    "/scale?instance=g3s.xlarge&axis=pixels&min=10ms&max=90ms&at=100",
    "/partition?table=example&batch=77",
)


@pytest.fixture
def browser(service: str) -> Iterator[httpx.Client]:
    headers = {"Accept": "text/html", "Accept-Language": "en"}
    with httpx.Client(base_url=service, headers=headers, follow_redirects=True, timeout=60) as client:
        yield client


def _post(browser: httpx.Client, path: str, fields: dict[str, Any], content: bytes | None = None) -> httpx.Response:
    """Send a form as a browser does, the file field included."""
    file = ("mine.json", content) if content is not None else ("", b"")
    return browser.post(path, data=fields, files={"file": file})


def _carried(response: httpx.Response) -> dict[str, str]:
    """Return the hidden fields with which a page gives back what was read."""
    from html import unescape

    found = re.findall(r'<input type="hidden" name="(read|read_name)" value="([^"]*)"', response.text)
    return {name: unescape(value) for name, value in found}


@pytest.mark.parametrize("path", [*PATHS, *ANSWERED, "/nothing/here"])
def test_a_page_holds_no_script_no_style_and_no_address_of_elsewhere(browser: httpx.Client, path: str) -> None:
    response = browser.get(path)
    assert response.status_code == (404 if path == "/nothing/here" else 200)
    assert response.headers["content-type"].startswith("text/html")
    policy = response.headers["content-security-policy"]
    assert "'unsafe-inline'" not in policy
    assert "script-src 'self'" in policy
    assert re.findall(r"<script(?![^>]*\ssrc=)", response.text) == []
    assert re.findall(r"<style|\sstyle=|\son[a-z]+=|javascript:", response.text) == []
    addresses = re.findall(r'(?:href|src|action|formaction)="([^"]*)"', response.text)
    assert [each for each in addresses if not re.match(r"(/(?!/)|\?|#)", each)] == []


@pytest.mark.parametrize("path", [*PATHS, *ANSWERED, "/nothing/here"])
def test_a_page_in_korean_has_english_only_where_it_says_so(browser: httpx.Client, path: str) -> None:
    page = browser.get(path, headers={"Accept-Language": "ko"}).text
    assert '<html lang="ko">' in page
    assert re.search("[가-힣]", page)
    told = re.findall(r'<(?:li|p) lang="en">(.*?)</(?:li|p)>', page)
    assert told == [], "sentences of the library without a Korean one"


def test_the_example_is_asked_by_an_address_even_without_a_script(browser: httpx.Client) -> None:
    response = _post(
        browser, "/predict", {"profile": "example", "anchor": "", "interval": "0.8", "target": "p3.2xlarge"}
    )
    assert response.url.query == b"profile=example&interval=0.8&target=p3.2xlarge"
    assert "80 % interval" in response.text


def test_a_page_says_what_the_command_line_says(browser: httpx.Client, profet: Run, tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    assert profet("example", "-o", path).returncode == 0
    told = document(profet("predict", path, "--anchor-latency", "300ms", "--json"))
    page = _post(browser, "/predict", {"profile": "file", "anchor_latency": "300ms"}, path.read_bytes()).text
    for each in told["predictions"]:
        row = re.search(rf'<tr[^>]*>\s*<th scope="row">{each["target"]}.*?</tr>', page, re.DOTALL)
        assert row
        for value in (each["latency_ms"], each["low_ms"], each["high_ms"]):
            assert f"{value:.4g}" in row[0]


def test_another_size_is_asked_by_an_address(browser: httpx.Client, profet: Run, tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    assert profet("example", "-o", path).returncode == 0
    told = document(profet("predict", path, "--batch-size", "64", "--pixels", "128", "--json"))
    page = browser.get("/predict?profile=example&batch_size=64&pixels=128").text
    assert "For batch size 64 at 128 pixels; profiled at 16 and 224." in page
    for each in told["predictions"]:
        row = re.search(rf'<tr[^>]*>\s*<th scope="row">{each["target"]}.*?</tr>', page, re.DOTALL)
        assert row
        for value in (each["latency_ms"], each["low_ms"], each["high_ms"]):
            assert f"{value:.4g}" in row[0]
    assert "converted from epochs" in page


def test_what_is_kept_is_the_report_of_the_command_line(browser: httpx.Client, profet: Run, tmp_path: Path) -> None:
    path, report = tmp_path / "example", tmp_path / "report.csv"
    assert profet("example", "-o", path).returncode == 0
    assert profet("predict", path, "--report", report).returncode == 0
    response = browser.get("/predict/report.csv?profile=example")
    assert response.headers["content-disposition"] == 'attachment; filename="prediction.csv"'
    assert response.text == report.read_text(encoding="utf-8")
    facts = browser.get("/advise/report.json?profile=example&samples=50k&epochs=3").json()
    assert facts["recommended"] in {each["target"] for each in facts["options"]}
    rows = list(csv.DictReader(io.StringIO(browser.get(f"/partition/report.csv?{ANSWERED[3][11:]}").text)))
    assert sum(int(row["images"]) for row in rows) == 77


def test_what_was_read_is_listed_whole_and_asked_about_again_without_the_file(
    browser: httpx.Client, example: dict[str, Any]
) -> None:
    content = json.dumps({**example, "instance": None, "batch_size": None}).encode()
    first = _post(browser, "/predict", {"profile": "file"}, content)
    assert "give “Instance that was profiled”, one of:" in first.text
    second = _post(browser, "/predict", {"profile": "file", "anchor": "g3s.xlarge"}, content)
    for name in (*example["device_us"], *example["host_us"]):
        assert f"<code>{name}</code>" in second.text
    carried = _carried(second)
    assert json.loads(carried["read"])["device_us"] == example["device_us"]
    fields = {
        "profile": "read",
        **carried,
        "anchor": "g3s.xlarge",
        "batch_size": "16",
        "samples": "50k",
        "epochs": "2",
    }
    third = _post(browser, "/advise", fields)
    assert "mine.json" in third.text
    assert re.search(r"Take \S+</h2>", third.text)


def test_names_from_outside_are_shown_as_text(browser: httpx.Client, example: dict[str, Any]) -> None:
    bad = "<script>alert(1)</script>"
    content = json.dumps({**example, "framework": bad, "device_us": {**example["device_us"], bad: 5.0}}).encode()
    response = browser.post("/predict", data={"profile": "file"}, files={"file": (f"{bad}.json", content)})
    assert response.status_code == 200
    assert "alert(1)" in response.text
    assert "<script>alert" not in response.text
    assert "<script>alert" not in browser.get("/predict", params={"anchor_latency": f'"{bad}'}).text
    assert "<script>alert" not in browser.get(f"/instances/{bad}").text
    assert "<script>alert" not in browser.get(f"/{bad}").text


@pytest.mark.parametrize(
    ("path", "fields", "words"),
    [
        ("/predict", {"profile": "file"}, "no profile was given"),
        ("/predict", {"profile": "text", "text": "nothing"}, "the pasted text: not a format known here"),
        ("/predict", {"profile": "example", "anchor": "nowhere.xlarge"}, "is not in the bundle"),
        ("/predict", {"profile": "example", "anchor_latency": "-3"}, "must be above zero"),
        ("/predict", {"profile": "example", "interval": "nan"}, "is no chance between 0 and 1"),
        ("/predict", {"profile": "example", "batch_size": "100000"}, "reaches up to 64 times"),
        ("/advise", {"profile": "example", "samples": "many", "epochs": "2"}, "“Samples in an epoch”: "),
        ("/advise", {"profile": "example", "samples": "50k"}, "“Samples in an epoch” and “Epochs”: both"),
        (
            "/advise",
            {"profile": "example", "samples": "9k", "epochs": "1", "validation_share": "nan"},
            "validation",
        ),
        ("/partition", {"table": "text", "text": "{}"}, "not a performance table"),
        ("/partition", {"table": "example", "batch": "0"}, "“Images to split”"),
        ("/partition", {"table": "example", "device": "tpu"}, "no unit called"),
        ("/measure", {"profile": "example", "latency": "61ms"}, "say on which instance"),
        ("/measure", {"profile": "example", "latency": "9h", "target": "p3.2xlarge"}, "is not a latency"),
    ],
)
def test_what_must_be_changed_is_told_above_the_form(
    browser: httpx.Client, path: str, fields: dict[str, str], words: str
) -> None:
    response = _post(browser, path, fields)
    assert response.status_code == 200
    alert = re.search(r'role="alert".*?<p[^>]*>(.*?)</p>', response.text, re.DOTALL)
    assert alert
    assert words in alert[1]
    assert "--" not in alert[1]
    assert '<form id="ask"' in response.text


def test_a_price_without_a_date_is_told_as_such(profet: Run, tmp_path: Path) -> None:
    prices, catalogue = tmp_path / "vms.csv", tmp_path / "own.json"
    prices.write_text(
        "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region,AvailabilityZone,GpuInfo\n"
        "g4dn.xlarge,T4,1.0,4.0,16.0,0.001,0.001,moon,moon-a,\n"
    )
    imported = profet("instances", "import", "skypilot", prices, "--provider", "aws", "--catalogue", catalogue)
    assert imported.returncode == 0, imported.stderr
    with started(tmp_path, "--catalogue", catalogue) as service:
        page = httpx.get(f"{service}/predict?profile=example", headers={"Accept-Language": "en"}).text
    assert "An hour costs 0.00100 USD, a price of unknown age" in page


def test_a_language_is_remembered(browser: httpx.Client) -> None:
    assert '<html lang="ko">' in browser.get("/predict?lang=ko").text
    assert '<html lang="ko">' in browser.get("/scale").text
    assert '<html lang="en">' in browser.get("/scale?lang=xx", headers={"Cookie": "profet_language=xx"}).text


def test_another_site_cannot_store_or_delete_in_a_visitors_name(browser: httpx.Client) -> None:
    fields = {"profile": "example", "target": "p3.2xlarge", "latency": "61ms"}
    response = browser.post("/measure", data=fields, headers={"Sec-Fetch-Site": "cross-site"})
    assert response.status_code == 403
    assert "set-cookie" not in response.headers
    assert browser.post("/measure/remove", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403


def test_nothing_is_stored_of_a_prediction_and_only_what_was_ticked_of_a_measurement(tmp_path: Path) -> None:
    with started(tmp_path) as service, httpx.Client(base_url=service, timeout=60, follow_redirects=True) as browser:
        _post(browser, "/predict", {"profile": "text", "text": browser.get("/predict").text[:10]})
        assert list(tmp_path.iterdir()) == []
        fields = {"profile": "example", "target": "p3.2xlarge", "latency": "61ms", "note": "mine alone"}
        stored = _post(browser, "/measure", fields)
        assert "The profile is not kept, only its fingerprint." in stored.text
        kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert b"mine alone" in kept
        assert b"FusedBatchNorm" not in kept
        report = browser.get("/history/report.json").text
        assert "mine alone" not in report
        assert browser.cookies["profet_owner"] not in report
        _post(browser, "/measure", {**fields, "latency": "60ms", "keep_profile": "1"})
        assert (
            "FusedBatchNorm"
            in browser.get(re.findall(r"/measure/[\w-]+/profile\.json", browser.get("/measure").text)[0]).text
        )
        with httpx.Client(base_url=service) as other:
            assert "mine alone" not in other.get("/measure").text
        assert "Nothing is stored" in browser.post("/measure/remove", data={"all": "1"}).text
