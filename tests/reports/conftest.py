"""Advice on the shipped example, as several tests of its report look at it."""

from collections.abc import Callable
from functools import cache

import pytest

from profet import example_profile
from profet.advice.advice import Advice, Demands
from profet.advice.advise import advise
from profet.reports.advice_report import advice_report
from profet.reports.page import page
from tests.reports.advice_asked import ASKED, IMAGENET, TODAY
from tests.reports.page_reader import Page


@pytest.fixture(scope="session")
def advised(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Demands], Advice]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROFET_DATA_DIR", str(tmp_path_factory.mktemp("data")))
        made = {demands: advise(example_profile(), IMAGENET, demands, today=TODAY) for demands in ASKED}
    return made.__getitem__


@pytest.fixture(scope="session")
def told(advised: Callable[[Demands], Advice]) -> Callable[[Demands], Page]:
    return cache(lambda demands: Page(page(advice_report(advised(demands), today=TODAY), TODAY)))
