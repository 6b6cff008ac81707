"""``profet instances import``: other people's price lists into one's own file."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from profet.cli.options import catalogue_option, json_option
from profet.cli.output import print_json, print_warnings
from profet.errors import InputError
from profet.files import STDIN
from profet.printable import one_line

if TYPE_CHECKING:
    from profet.instances.price_list import PriceList

_date_option = click.option(
    "--date", metavar="DATE", help="When the prices held, such as 2024-12-05 or 2024; else of unknown age."
)


@click.group("import")
def import_() -> None:
    """Bring a price list into your own file; what was imported before is brought up to date."""


@import_.command()
@click.argument("source", metavar="FILE")
@click.option("--provider", metavar="NAME", help="Whose prices these are, such as aws; else by the file's name.")
@_date_option
@catalogue_option
@json_option
def skypilot(
    source: str, provider: str | None, date: str | None, catalogue_path: str | None, as_json: bool
) -> None:
    """Import a SkyPilot catalogue (vms.csv); FILE may be -, standard input.

    Of a region's zones the lowest price counts. Rows without a machine's name or without a GPU are left out.
    """
    from profet.cli.instances_own import checked_date
    from profet.instances.catalogue_file import Source
    from profet.instances.own import check_own
    from profet.instances.price_list import is_name
    from profet.instances.skypilot_csv import read_skypilot

    path = check_own(catalogue_path)
    whose = provider or _provider_of(source)
    if whose is None or not is_name(whose):
        raise InputError(f"{source}: its name does not tell the provider; give --provider NAME, such as aws")
    what = Source(
        name=f"import:skypilot:{whose}",
        what=f"SkyPilot's price list of {whose}, imported",
        where="skypilot-org/skypilot-catalog",
        date=checked_date(date),
    )
    _finish(path, read_skypilot(source, whose, what), as_json)


@import_.command()
@click.argument("source", metavar="FILE")
@_date_option
@catalogue_option
@json_option
def ec2instances(source: str, date: str | None, catalogue_path: str | None, as_json: bool) -> None:
    """Import the instances.json of ec2instances.info; FILE may be -, standard input.

    Prices are those of Linux. Machines without a GPU are left out.
    """
    from profet.cli.instances_own import checked_date
    from profet.instances.catalogue_file import Source
    from profet.instances.ec2instances_json import read_ec2instances
    from profet.instances.own import check_own

    path = check_own(catalogue_path)
    what = Source(
        name="import:ec2instances",
        what="the instances.json of ec2instances.info, imported",
        where="vantage-sh/ec2instances.info",
        date=checked_date(date),
    )
    _finish(path, read_ec2instances(source, what), as_json)


def _provider_of(path: str) -> str | None:
    """Tell the provider by a file's name, or by its folder's for SkyPilot's own vms.csv; None where neither tells.

    >>> _provider_of("catalogs/v8/aws/vms.csv"), _provider_of("skypilot_lambda.csv"), _provider_of("-")
    ('aws', 'lambda', None)
    """
    if path == STDIN:
        return None
    stem = Path(path).stem.lower()
    if stem == "vms":
        stem = Path(path).absolute().parent.name.lower()
    name = re.sub(r"^skypilot[_-]?|[_-]?vms$", "", stem)
    return name or None


def _finish(path: Path, prices: "PriceList", as_json: bool) -> None:
    """Merge what was read, and say what came of it."""
    from profet.instances.own import merge

    merged = merge(path, prices)
    undated = ["the prices are of unknown age; --date says when they held"] if prices.source.date is None else []
    warnings = [*prices.notes, *undated]
    providers = sorted({each.provider for each in prices.instances})
    if as_json:
        print_json(
            {
                "output": str(merged.path),
                "source": prices.source.name,
                "provider": ", ".join(providers),
                "records": prices.records,
                "added": list(merged.added),
                "replaced": list(merged.replaced),
                "left_out": [{"reason": reason, "count": count} for reason, count in merged.left_out.items()],
                "warnings": warnings,
            }
        )
        return
    print_warnings(warnings)
    print_warnings(f"left out: {count} {reason}" for reason, count in merged.left_out.items())
    told = (
        f"added {len(merged.added)} instances of {', '.join(providers)}, brought {len(merged.replaced)} up to date"
    )
    click.echo(one_line(f"wrote {merged.path}: {told}"))
