"""The pages in a real browser: every page's main path, with a mouse, with a keyboard alone, and on a phone."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from profet.profiles.example import example_profile

pytest.importorskip("playwright", reason="playwright is not installed; it is in the group 'dev'")

from playwright.sync_api import Browser, Page, expect

from tests.web.conftest import started
from tests.web.pages_browser import (  # noqa: F401 (a fixture)
    DARK,
    PHONE,
    check_accessible,
    check_fits,
    check_reads_whole,
    chromium,
    visiting,
)

ANSWERED = {
    "predict": "/predict?profile=example",
    "advise": "/advise?profile=example&samples=1.28M&epochs=90&deadline=14d&budget=300",
    "scale": "/scale?instance=g3s.xlarge&axis=batch&min=100ms&max=1200ms&at=64",
    "partition": "/partition?table=example&batch=100",
    "instances": "/instances?gpu=T4",
    "instance": "/instances/g4dn.xlarge",
    "measure": "/measure",
    "history": "/history",
}
"""An address of each page that shows an answer."""


@pytest.fixture
def visitor(chromium: Browser, service: str) -> Iterator[Page]:  # noqa: F811
    with visiting(chromium, service) as page:
        yield page


@pytest.fixture
def own_service(tmp_path: Path) -> Iterator[str]:
    """A service that nobody else records in."""
    with started(tmp_path) as address:
        yield address


def test_an_uploaded_profile_is_predicted_and_its_address_holds_all_but_the_profile(
    visitor: Page, tmp_path: Path
) -> None:
    path = tmp_path / "my secret model.json"
    path.write_text(example_profile().to_json(), encoding="utf-8")
    visitor.goto("/predict")
    visitor.get_by_label("Drop it here").set_input_files(path)
    expect(visitor.get_by_role("radio", name="A file")).to_be_checked()
    visitor.get_by_label("Its step latency without the profiler").fill("300ms")
    visitor.get_by_role("button", name="Predict", exact=True).click()
    expect(visitor.get_by_role("heading", name=re.compile("Take g5.xlarge"))).to_be_focused()
    expect(visitor.get_by_role("table", name=re.compile("Latency and cost"))).to_contain_text("p3.2xlarge")
    expect(visitor.get_by_role("img", name=re.compile("Latency of one step"))).to_be_visible()
    expect(visitor.get_by_role("radio", name=re.compile("The one just read: my secret model.json"))).to_be_checked()
    assert visitor.url.endswith("/predict?anchor_latency=300ms")
    visitor.get_by_role("button", name="A whole training run").click()
    visitor.get_by_label("Samples in an epoch").fill("50k")
    visitor.get_by_label("Epochs").fill("10")
    visitor.get_by_role("button", name="Advise", exact=True).click()
    expect(visitor.get_by_role("heading", name=re.compile("^Take "))).to_be_visible()
    assert "secret" not in visitor.url


def test_a_dropped_file_and_pasted_text_are_read_too(visitor: Page) -> None:
    visitor.goto("/predict")
    content = example_profile().to_json()
    visitor.evaluate(
        """(content) => {
            const data = new DataTransfer();
            data.items.add(new File([content], "dropped.json"));
            const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
            document.querySelector("[data-drop]").dispatchEvent(drop);
        }""",
        content,
    )
    visitor.get_by_role("button", name="Predict", exact=True).click()
    expect(visitor.get_by_role("radio", name=re.compile("dropped.json"))).to_be_checked()
    visitor.get_by_label("Paste the profile here").fill(content)
    visitor.get_by_role("button", name="Predict", exact=True).click()
    expect(visitor.get_by_role("radio", name=re.compile("The one just read: pasted text"))).to_be_checked()


def test_a_result_is_shared_by_its_address(visitor: Page) -> None:
    visitor.goto("/predict")
    visitor.get_by_text("More", exact=True).click()
    visitor.get_by_label("p2.xlarge").check()
    visitor.get_by_role("button", name="Predict", exact=True).click()
    expect(visitor.get_by_role("heading", name=re.compile("^Take "))).to_be_visible()
    told = visitor.locator("#result").inner_text()
    visitor.goto(visitor.url)
    assert visitor.locator("#result").inner_text() == told
    assert "p2.xlarge" in told
    assert "p3.2xlarge" not in told


def test_back_shows_what_was_there_before(visitor: Page) -> None:
    visitor.goto("/predict")
    visitor.get_by_role("button", name="Predict", exact=True).click()
    expect(visitor.get_by_role("heading", name=re.compile("^Take "))).to_be_visible()
    visitor.go_back()
    expect(visitor.get_by_text("Choose a profile, or just take the example")).to_be_visible()


def test_what_is_wrong_is_told_beside_the_form_and_read_aloud(visitor: Page) -> None:
    visitor.goto("/scale")
    visitor.get_by_label("Latency at 16").fill("soon")
    visitor.get_by_label("Latency at 256").fill("1s")
    visitor.get_by_role("button", name="Show").click()
    expect(visitor.get_by_role("alert")).to_contain_text("“Latency at the smaller size”: 'soon' is not a latency")
    expect(visitor.get_by_role("status")).to_contain_text("is not a latency")


def test_the_slider_moves_the_answer(visitor: Page) -> None:
    visitor.goto(ANSWERED["scale"])
    slider = visitor.get_by_role("slider")
    before = visitor.locator("[data-said]").inner_text()
    slider.focus()
    slider.press("ArrowRight")
    expect(visitor.locator("[data-said]")).to_have_text(re.compile("batch size 65$"))
    slider.press("End")
    expect(visitor.locator("[data-said]")).to_have_text("1200 ms a step on g3s.xlarge at batch size 256")
    expect(slider).to_be_focused()
    assert "at=256" in visitor.url
    visitor.get_by_label("input size in pixels").check()
    expect(visitor.get_by_label("Latency at 32")).to_be_visible()
    expect(visitor.locator("[data-said]")).to_have_text(re.compile("input size in pixels 256$"))
    assert before.endswith("batch size 64")


def test_a_table_is_planned(visitor: Page) -> None:
    visitor.goto("/partition")
    visitor.get_by_label("Images to split").fill("100")
    visitor.get_by_role("button", name="Plan", exact=True).click()
    expect(visitor.get_by_role("heading", name=re.compile(r"^Split: [\d.]+ ms"))).to_be_visible()
    expect(visitor.get_by_role("img", name=re.compile("Who is to run when"))).to_be_visible()
    shares = visitor.get_by_role("table", name="Shares of the batch").locator("tbody td:nth-child(2)")
    assert sum(map(int, shares.all_inner_texts())) == 100
    assert "table=example" in visitor.url


def test_instances_are_chosen_and_told(visitor: Page) -> None:
    visitor.goto("/instances")
    visitor.get_by_label("GPU", exact=True).select_option("T4")
    expect(visitor.locator("#result tbody tr")).to_have_count(12)
    visitor.get_by_role("link", name="g4dn.xlarge").click()
    expect(visitor.get_by_role("heading", name="g4dn.xlarge")).to_be_visible()
    expect(visitor.get_by_role("table", name="What an hour costs")).to_contain_text("USD")


def test_a_measurement_is_stored_seen_and_deleted_by_its_owner_alone(
    chromium: Browser,  # noqa: F811
    own_service: str,
) -> None:
    with visiting(chromium, own_service) as page:
        page.goto(ANSWERED["predict"])
        page.get_by_role("button", name="Tell what it really took").click()
        page.get_by_label("Instance that the run was measured on").fill("p3.2xlarge")
        page.get_by_label("What a step took there").fill("61ms")
        page.get_by_label("Note").fill("driver 550")
        page.get_by_label("Keep the profile, too").check()
        page.get_by_role("button", name="Keep the measurement").click()
        expect(page.get_by_role("heading", name="Kept")).to_be_visible()
        expect(page.locator("#result")).to_contain_text("That is inside its 90 % interval.")
        expect(page.get_by_role("cell", name="driver 550")).to_be_visible()
        with page.expect_download() as download:
            page.get_by_role("link", name="stored").click()
        assert json.loads(download.value.path().read_text(encoding="utf-8"))["instance"] == "g3s.xlarge"
        with visiting(chromium, own_service) as other:
            other.goto("/measure")
            expect(other.get_by_text("Nothing is stored from this browser.")).to_be_visible()
            other.goto("/history")
            expect(other.get_by_role("img", name=re.compile("Predicted against measured"))).to_be_visible()
            check_accessible(other)
            assert "driver 550" not in other.content()
        check_accessible(page)
        page.goto("/measure")
        page.get_by_role("button", name=re.compile("^Forget the record")).click()
        expect(page.get_by_text("Nothing is stored from this browser.")).to_be_visible()
        page.goto("/history")
        expect(page.get_by_text("Nothing was recorded here yet.")).to_be_visible()


@pytest.mark.parametrize("name", ["predict", "advise", "scale", "partition"])
def test_a_result_is_kept_as_page_table_and_picture(visitor: Page, name: str) -> None:
    visitor.goto(ANSWERED[name])
    kept = {}
    for form in ("HTML", "CSV", "PNG"):
        with visitor.expect_download() as download:
            visitor.get_by_role("button", name=re.compile(form)).click()
        kept[form] = download.value.path().read_bytes()
    assert kept["HTML"].startswith(b"<!DOCTYPE html>")
    assert kept["PNG"].startswith(b"\x89PNG")
    assert len(list(csv.DictReader(kept["CSV"].decode().splitlines()))) >= 3


def test_predicting_needs_no_mouse(visitor: Page) -> None:
    visitor.goto("/predict")
    visitor.keyboard.press("Tab")
    expect(visitor.get_by_role("link", name="Skip to the content")).to_be_focused()
    visitor.keyboard.press("Enter")
    expect(visitor.get_by_role("main")).to_be_focused()
    visitor.keyboard.press("Tab")
    expect(visitor.get_by_role("radio", name=re.compile("The example"))).to_be_focused()
    for _ in range(20):
        visitor.keyboard.press("Tab")
        if visitor.evaluate("document.activeElement.id") == "f-anchor_latency":
            break
    visitor.keyboard.type("250ms")
    for _ in range(10):
        visitor.keyboard.press("Tab")
        if visitor.evaluate("document.activeElement.textContent") == "Predict":
            break
    outline = visitor.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"
    visitor.keyboard.press("Enter")
    expect(visitor.get_by_role("heading", name=re.compile("^Take "))).to_be_focused()
    assert "anchor_latency=250ms" in visitor.url


@pytest.mark.parametrize("name", ANSWERED)
def test_a_page_has_no_serious_finding_and_fits_a_phone_in_the_dark(
    chromium: Browser,  # noqa: F811
    service: str,
    name: str,
) -> None:
    with visiting(chromium, service) as page:
        page.goto(ANSWERED[name])
        check_accessible(page)
    with visiting(chromium, service, locale="ko-KR", **PHONE, **DARK) as page:
        page.goto(ANSWERED[name])
        expect(page.locator("html")).to_have_attribute("lang", "ko")
        check_accessible(page)
        check_fits(page)
        page.set_viewport_size({"width": 320, "height": 640})
        check_fits(page)
        check_reads_whole(page)


def test_a_page_is_printed_dark_on_light_and_without_what_only_a_screen_has(
    chromium: Browser,  # noqa: F811
    service: str,
) -> None:
    with visiting(chromium, service, **DARK) as page:
        page.goto(ANSWERED["advise"])
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).color") == "rgb(34, 34, 34)"
        assert page.evaluate("getComputedStyle(document.querySelector('.table')).overflowX") == "visible"
        for button in page.get_by_role("button", include_hidden=True).all():
            expect(button).to_be_hidden()


@pytest.mark.parametrize("name", ["predict", "scale"])
def test_a_page_works_without_a_script(chromium: Browser, service: str, name: str) -> None:  # noqa: F811
    with visiting(chromium, service, java_script_enabled=False) as page:
        page.goto(f"/{name}")
        if name == "scale":
            page.get_by_label("Latency at 16").fill("100ms")
            page.get_by_label("Latency at 256").fill("1s")
        page.locator("#ask button[type=submit]").click()
        assert page.locator("[data-said]").is_visible()
        assert "?" in page.url


def test_the_language_is_switched_with_the_answer_in_place(visitor: Page) -> None:
    visitor.goto(ANSWERED["predict"])
    visitor.get_by_role("link", name="한국어").click()
    expect(visitor.get_by_role("heading", name="g5.xlarge 추천: 가장 쌉니다")).to_be_visible()
    visitor.goto("/scale")
    expect(visitor.locator("html")).to_have_attribute("lang", "ko")
    visitor.get_by_role("link", name="English").click()
    expect(visitor.locator("html")).to_have_attribute("lang", "en")
