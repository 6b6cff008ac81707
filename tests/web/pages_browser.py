"""A real browser that looks at the pages: Debian's Chromium, driven by Playwright."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="playwright is not installed; it is in the group 'dev'")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tests.conftest import skip_unless_ci

CHROMIUM = Path("/usr/bin/chromium")
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
DARK = {"color_scheme": "dark"}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The browser, for one file: while Playwright is open its event loop counts as running in the whole thread."""
    if not CHROMIUM.exists():
        skip_unless_ci(f"{CHROMIUM} is missing; apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def visiting(browser: Browser, service: str, **options: Any) -> Iterator[Page]:
    """Open a page of a visitor; complaints of its console, and addresses outside the service, fail the test."""
    context = browser.new_context(base_url=service, **{"locale": "en-US", "accept_downloads": True, **options})
    page = context.new_page()
    page.set_default_timeout(20_000)
    complaints: list[str] = []
    page.on("console", lambda told: complaints.append(told.text) if told.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((service, "blob:", "data:"))
            else complaints.append(f"asked for {request.url}")
        ),
    )
    try:
        yield page
        assert complaints == []
    finally:
        context.close()


def check_accessible(page: Page) -> None:
    """Check a page with axe; it may find nothing that is serious or critical."""
    found = Axe().run(page).response["violations"]
    told = [
        f"{each['id']}: {each['help']}: {[node['html'][:160] for node in each['nodes'][:3]]}"
        for each in found
        if each["impact"] in {"serious", "critical"}
    ]
    assert told == [], "\n".join(told)


def check_fits(page: Page) -> None:
    """Check that nothing makes the page wider than the screen."""
    wide, screen = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert wide <= screen


def check_reads_whole(page: Page) -> None:
    """Check that headings of tables and captions are not broken within words, nor captions cut off."""
    wide = page.evaluate(
        "Math.max(0, ...[...document.querySelectorAll('caption')].map(each => each.getBoundingClientRect().width))"
    )
    assert wide <= page.evaluate("document.documentElement.clientWidth")
    narrow = page.evaluate(
        """() => {
            const plain = (head) => head.checkVisibility() && !head.children.length;
            const lines = (head) => {
                const range = document.createRange();
                range.selectNodeContents(head);
                return range.getClientRects().length;
            };
            const broken = (head) => lines(head) > head.textContent.trim().split(/\\s+/).length;
            const heads = [...document.querySelectorAll("thead th")];
            return heads.filter(plain).filter(broken).map((head) => head.textContent);
        }"""
    )
    assert narrow == []
