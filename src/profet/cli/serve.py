"""``profet serve``: the REST API and the pages over HTTP."""

import sys

import click

from profet.cli.options import NumberRange, bundle_option, catalogue_option, history_option


@click.command()
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes that answer; as many as cores for the most answers a second.",
)
@click.option(
    "--allowed-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="A name by which it may be asked, besides localhost; needed behind a proxy. May be given several times.",
)
@click.option(
    "--proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    help="A proxy through which others reach it: everything needs a key then, and its word is taken for who asks.",
)
@click.option(
    "--key-rate",
    type=NumberRange(0),
    default=100.0,
    show_default=True,
    metavar="N",
    help="Requests a second with one key, of each process; 0 for as many as there are.",
)
@click.option(
    "--address-rate",
    type=NumberRange(0),
    default=200.0,
    show_default=True,
    metavar="N",
    help="The same from one address, where it is not this machine that reads.",
)
@click.option(
    "--log",
    "logged",
    type=click.Choice(["all", "changes"]),
    help="Requests with a line in the log, on standard error: all, or only those that write, are refused or fail."
    " All by default, but on a terminal.",
)
@bundle_option
@catalogue_option
@history_option
def serve(
    host: str,
    port: int,
    workers: int,
    hosts: tuple[str, ...],
    proxies: tuple[str, ...],
    key_rate: float,
    address_rate: float,
    logged: str | None,
    bundle_path: str | None,
    catalogue_path: str | None,
    history_place: str | None,
) -> None:
    """Answer over HTTP: predictions, advice, scaling and plans, as a REST API and as pages.

    On this machine reading is open, and what writes through the API needs a key (profet keys create). Where it
    listens for others, everything needs one. Stops with Ctrl-C.
    """
    from profet.web.server import serve as serve_requests
    from profet.web.settings import Limits, Settings

    settings = Settings(
        bundle_path=bundle_path,
        catalogue_path=catalogue_path,
        history_place=history_place,
        hosts=hosts,
        proxies=proxies,
        log_all=not sys.stderr.isatty() if logged is None else logged == "all",
        limits=Limits(key_rate=key_rate, address_rate=address_rate),
    )
    serve_requests(settings, host, port, workers, tell=lambda line: click.echo(line, err=True))
