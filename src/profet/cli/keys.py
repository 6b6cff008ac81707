"""``profet keys``: who may use a service that others reach, what they may do, and what they wrote."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from profet.cli.groups import InWorkflowOrder
from profet.cli.options import Parsed, history_option, json_option
from profet.cli.output import print_json, print_tables, print_warnings
from profet.errors import InputError
from profet.printable import one_line
from profet.quantities import parse_duration_s

if TYPE_CHECKING:
    from profet.history.store import History


@click.group(cls=InWorkflowOrder)
def keys() -> None:
    """Make keys for a service that others reach, list them, and take them back.

    They lie in the store of the service: give the same --history as to profet serve.
    """


@keys.command()
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice(["read", "write", "admin"]),
    default="read",
    show_default=True,
    help="What it may do: ask; also keep measurements and forget its own; also see and forget those of others.",
)
@click.option(
    "--expires",
    "expires_s",
    type=Parsed("duration", parse_duration_s),
    metavar="DURATION",
    help="How long it opens anything, such as 90d; for ever by default.",
)
@history_option
@json_option
def create(name: str, scope: str, expires_s: float | None, history_place: str | None, as_json: bool) -> None:
    """Make a key called NAME, and print it: this once, since only its fingerprint is kept."""
    from profet.access.key import Scope
    from profet.access.keys import Keys
    from profet.history.place import begin_history
    from profet.reports.key_tables import key_facts

    expires = None if expires_s is None else _in(expires_s)
    kept, warnings = begin_history(history_place)
    with kept:
        key, text = Keys(kept).create(name, Scope(scope), expires)
    if as_json:
        print_json({**key_facts(key), "key": text.text, "warnings": warnings})
        return
    print_warnings(warnings)
    until = "for ever" if key.expires is None else f"until {key.expires:%Y-%m-%d %H:%M} UTC"
    click.echo(
        f"key {key.id} for {one_line(name)}: {scope}, {until}; it is shown this once,"
        " send it as Authorization: Bearer KEY",
        err=True,
    )
    click.echo(text.text)


@keys.command("list")
@history_option
@json_option
def list_(history_place: str | None, as_json: bool) -> None:
    """List all keys, oldest first: what they may do, until when, and when they were last used."""
    from profet.access.keys import Keys
    from profet.reports.key_tables import key_facts, keys_table

    with _opened(history_place) as kept:
        found = Keys(kept).all()
    if as_json:
        print_json({"keys": [key_facts(each) for each in found]})
    elif found:
        print_tables(keys_table(found))
    else:
        click.echo("there is no key yet; make one with: profet keys create NAME --scope write")


@keys.command()
@click.argument("key_id", metavar="ID")
@history_option
@json_option
def revoke(key_id: str, history_place: str | None, as_json: bool) -> None:
    """Take a key back, for good: within seconds it opens nothing any more. What it sent stays."""
    from profet.access.keys import Keys
    from profet.reports.key_tables import key_facts

    with _opened(history_place) as kept:
        key = Keys(kept).revoke(key_id)
    if as_json:
        print_json(key_facts(key))
    else:
        click.echo(one_line(f"revoked {key.id} ({key.name})"))


@keys.command()
@click.option("--key", "key_id", metavar="ID", help="Only what came with this key.")
@click.option(
    "--last", type=click.IntRange(1, 100_000), default=50, show_default=True, metavar="N", help="How many."
)
@history_option
@json_option
def audit(key_id: str | None, last: int, history_place: str | None, as_json: bool) -> None:
    """Show the newest requests that were to write something, oldest first: when, with which key, from where."""
    from profet.access.audit import Audit
    from profet.reports.key_tables import audit_facts, audit_table

    with _opened(history_place) as kept:
        lines = Audit(kept).newest(last, key_id)
    if as_json:
        print_json({"writes": [audit_facts(each) for each in lines]})
    elif lines:
        print_tables(audit_table(lines))
    else:
        whose = f" with key {one_line(key_id)}" if key_id else ""
        click.echo(f"nothing was written through the service yet{whose}")


@keys.command("prune-audit")
@click.option(
    "--older-than",
    "age_s",
    type=Parsed("duration", parse_duration_s),
    required=True,
    metavar="DURATION",
    help="Such as 365d.",
)
@history_option
@json_option
def prune_audit(age_s: float, history_place: str | None, as_json: bool) -> None:
    """Forget the lines of the audit that are older, for good; keys and measurements stay."""
    from profet.access.audit import Audit

    before = _ago(age_s)
    with _opened(history_place) as kept:
        count = Audit(kept).forget_before(before)
    if as_json:
        print_json({"forgotten": count, "before": before.isoformat()})
    else:
        click.echo(f"forgot {count} lines from before {before:%Y-%m-%d %H:%M} UTC")


def _ago(seconds: float) -> datetime:
    try:
        return datetime.now(UTC) - timedelta(seconds=seconds)
    except OverflowError:
        raise InputError("--older-than: is earlier than any date; nothing is so old") from None


def _in(seconds: float) -> datetime:
    try:
        return datetime.now(UTC) + timedelta(seconds=seconds)
    except OverflowError:
        raise InputError("--expires: is later than any date; leave it out for a key without an end") from None


def _opened(place: str | None) -> "History":
    from profet.history.place import open_history

    return open_history(place)
