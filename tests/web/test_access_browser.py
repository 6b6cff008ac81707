"""Signing in with a key in a real browser, where the service listens for others; on a phone, in the dark."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="playwright is not installed; it is in the group 'dev'")

from playwright.sync_api import Browser, expect

from tests.web.conftest import key_for, started
from tests.web.pages_browser import (  # noqa: F401 (a fixture)
    DARK,
    PHONE,
    check_accessible,
    check_fits,
    chromium,
    visiting,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("for others")


@pytest.fixture(scope="module")
def key(folder: Path) -> str:
    return key_for(folder)


@pytest.fixture(scope="module")
def for_others(folder: Path, key: str) -> Iterator[str]:
    """A service that others than this machine reach."""
    with started(folder, "--host", "0.0.0.0", "--address-rate", 0) as address:
        yield address


def test_a_visitor_signs_in_asks_keeps_and_signs_out(chromium: Browser, for_others: str, key: str) -> None:  # noqa: F811
    with visiting(chromium, for_others) as page:
        page.goto("/predict?profile=example&target=p3.2xlarge")
        expect(page.get_by_role("heading", name="Sign in with a key")).to_be_visible()
        page.get_by_label("Key").fill("pf_no_key")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("this key opens nothing here")
        check_accessible(page)
        page.get_by_label("Key").fill(key)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name=re.compile("^Take "))).to_be_visible()
        assert page.url.endswith("/predict?profile=example&target=p3.2xlarge")
        check_accessible(page)
        page.get_by_role("button", name="Tell what it really took").click()
        page.get_by_label("Instance that the run was measured on").fill("p3.2xlarge")
        page.get_by_label("What a step took there").fill("61ms")
        page.get_by_role("button", name="Keep the measurement").click()
        expect(page.get_by_role("heading", name="Kept")).to_be_visible()
        assert page.evaluate("document.cookie") == ""
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="Sign in with a key")).to_be_visible()
        page.goto("/measure")
        expect(page.get_by_role("heading", name="Sign in with a key")).to_be_visible()


def test_a_visitor_whose_key_has_ended_meanwhile_signs_in_where_the_answer_would_be(
    chromium: Browser,  # noqa: F811
    for_others: str,
    key: str,
) -> None:
    with visiting(chromium, for_others) as page:
        page.context.add_cookies([{"name": "profet_key", "value": key, "url": for_others}])
        page.goto("/predict")
        page.context.clear_cookies()
        page.get_by_role("button", name="Predict", exact=True).click()
        expect(page.get_by_label("Key")).to_be_visible()
        page.get_by_label("Key").fill(key)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        assert page.url.endswith("/predict")


def test_signing_in_fits_a_phone_in_the_dark_and_works_without_a_script(
    chromium: Browser,  # noqa: F811
    for_others: str,
    key: str,
) -> None:
    with visiting(chromium, for_others, locale="ko-KR", java_script_enabled=False, **PHONE, **DARK) as page:
        page.goto("/scale")
        expect(page.get_by_role("heading", name="키로 로그인")).to_be_visible()
        check_fits(page)
        page.get_by_label("키", exact=True).fill(key)
        page.get_by_role("button", name="로그인").click()
        expect(page.get_by_role("button", name="로그아웃")).to_be_visible()
        check_fits(page)
        assert page.url.endswith("/scale")
