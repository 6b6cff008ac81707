"""All pages, under one router."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from profet.web.pages import advise, history, instances, measure, partition, predict, scale, sign_in
from profet.web.pages.page import Page, asked

pages_router = APIRouter(include_in_schema=False)


@pages_router.get("/")
def start(page: Annotated[Page, Depends(asked)]) -> Response:
    """Begin where most visitors want to go."""
    return page.redirect("/predict", page.fields.address(["lang"], {}))


for part in (predict, advise, scale, partition, instances, measure, history, sign_in):
    pages_router.include_router(part.router)
