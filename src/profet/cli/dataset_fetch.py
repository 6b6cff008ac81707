"""``profet dataset fetch``: published files, resumable and checked."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from profet.datasets.download import Report


@click.command()
@click.argument("name", metavar="profet", type=click.Choice(["profet"]))
@click.option("-o", "--output", required=True, metavar="DIR", help="Folder to fetch into.")
@click.option("--base-url", metavar="URL", help="Where the tree of files lies; the public repository by default.")
@click.option("--sums", metavar="FILE", help="Other files and SHA-256 sums, in the form of sha256sum.")
def fetch(name: str, output: str, base_url: str | None, sums: str | None) -> None:  # noqa: ARG001
    """Fetch the public PROFET data; continues where an earlier fetch stopped."""
    from profet.datasets.download import PROFET_BASE_URL, published_files
    from profet.datasets.download import fetch as fetch_files

    files = published_files(sums)
    with _bars() as report:
        fetch_files(files, output, PROFET_BASE_URL if base_url is None else base_url, report)
    click.echo(f"{len(files)} files are in {output}, all with the published sums")


@contextmanager
def _bars() -> "Iterator[Report | None]":
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bars = {}

        def report(path: str, done: int, total: int | None) -> None:
            if path not in bars:
                bars[path] = progress.add_task(path, total=total)
            progress.update(bars[path], completed=done, total=total)

        yield report
