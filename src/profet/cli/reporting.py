"""What ``--report`` and ``--plot`` do, the same in every command."""

import re
import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from profet.printable import one_line

if TYPE_CHECKING:
    from profet.reports.report import Report

_FOLDER = re.compile(r"(^|[=,])(?:~|\.\.?|[A-Za-z]:)?[/\\](?:[^=,/\\]*[/\\])*")


def check_outputs(report_path: str | None, plot_path: str | None, force: bool) -> None:
    """Refuse a report or picture that cannot be saved, before any work is done for it.

    Raises:
        OutputError: see check_report and check_picture.
    """
    if report_path is not None:
        from profet.reports.report import check_report

        check_report(report_path, force)
    if plot_path is not None:
        from profet.reports.pictures import check_picture

        check_picture(plot_path, force)


def save_outputs(report: "Report", report_path: str | None, plot_path: str | None, force: bool) -> None:
    """Save a report where one is asked for, and its first picture where that is.

    Raises:
        OutputError: see save_report and save_picture.
    """
    if plot_path is not None:
        from profet.reports.pictures import save_picture

        save_picture(report.pictures[0].draw(), plot_path, force)
    if report_path is not None:
        from profet.reports.report import save_report

        save_report(replace(report, command=command_line(sys.argv[1:])), report_path, force)


def tell_outputs(report_path: str | None, plot_path: str | None) -> None:
    """Say what was saved where."""
    if plot_path is not None:
        click.echo(one_line(f"picture saved as {plot_path}"))
    if report_path is not None:
        click.echo(one_line(f"report saved as {report_path}"))


def command_line(words: list[str]) -> str:
    """Return a command line for others to read: of a file elsewhere, only its name.

    >>> command_line(["predict", "/home/me/a profile.json", "--report=../out.html", "--target", "p3.2xlarge"])
    "profet predict 'a profile.json' --report=out.html --target p3.2xlarge"
    """
    return shlex.join(["profet", *(_FOLDER.sub(r"\1", word) or "/" for word in words)])
