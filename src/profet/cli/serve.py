"""``profet serve``: the REST API and the pages over HTTP."""

import click

from profet.cli.options import bundle_option, catalogue_option, history_option


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
@bundle_option
@catalogue_option
@history_option
def serve(
    host: str,
    port: int,
    workers: int,
    hosts: tuple[str, ...],
    bundle_path: str | None,
    catalogue_path: str | None,
    history_place: str | None,
) -> None:
    """Answer over HTTP: predictions, advice, scaling and plans, as a REST API and as pages.

    Stops with Ctrl-C.
    """
    from profet.web.server import serve as serve_requests
    from profet.web.settings import Settings

    settings = Settings(
        bundle_path=bundle_path, catalogue_path=catalogue_path, history_place=history_place, hosts=hosts
    )
    serve_requests(settings, host, port, workers, tell=lambda line: click.echo(line, err=True))
