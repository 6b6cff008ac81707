"""``profet history backup`` and ``restore``: all that a store holds, as one file."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from profet.cli.options import force_option, history_option, json_option
from profet.cli.output import print_json, print_warnings
from profet.printable import one_line

if TYPE_CHECKING:
    from profet.history.backup import Held


@click.command()
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write the backup.")
@history_option
@force_option
@json_option
def backup(output: str, history_place: str | None, force: bool, as_json: bool) -> None:
    """Write all records, keys and audit as one SQLite file, while a service may go on writing.

    The file is a history itself: --history FILE looks into it.
    """
    from profet.files import check_output
    from profet.history.backup import back_up
    from profet.history.place import open_history

    check_output(output, force)
    with open_history(history_place) as kept:
        held = back_up(kept, output, force)
    if as_json:
        print_json({"output": output, **asdict(held)})
    else:
        click.echo(one_line(f"wrote {output}: {_said(held)}"))


@click.command()
@click.argument("backup_path", metavar="FILE")
@history_option
@force_option
@json_option
def restore(backup_path: str, history_place: str | None, force: bool, as_json: bool) -> None:
    """Put a backup into a history, all of it or nothing; also from one database into another.

    A history that holds anything is refused; --force forgets what it holds first.
    """
    from profet.history.backup import opened_backup
    from profet.history.backup import restore as put_back
    from profet.history.place import begin_history

    with opened_backup(backup_path) as kept:
        history, told = begin_history(history_place)
        with history:
            put_back(kept, history, force)
            where = history.where
    print_warnings(told)
    if as_json:
        print_json({"history": where, **asdict(kept.held), "warnings": told})
    else:
        click.echo(one_line(f"restored to {where}: {_said(kept.held)}"))


def _said(held: "Held") -> str:
    return f"{held.measurements} measurements, {held.keys} keys, {held.audit} lines of audit"
