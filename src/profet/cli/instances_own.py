"""``profet instances add|remove``: machines of one's own."""

import datetime
from typing import TYPE_CHECKING

import click

from profet.cli.instances_quantities import Above, HourlyPrice, MemoryGib
from profet.cli.options import catalogue_option, json_option
from profet.cli.output import print_json, print_warnings
from profet.errors import InputError
from profet.names import suggest
from profet.printable import one_line
from profet.quantities import DEFAULT_CURRENCY, Money

if TYPE_CHECKING:
    from profet.instances.instance import Instance, Price


@click.command()
@click.argument("name")
@click.option("--gpu", metavar="NAME", help="Its GPU, such as T4; may be left out for a machine that is known.")
@click.option("--gpus", type=Above(), metavar="N", help="How many of them; 1 by default.")
@click.option("--gpu-memory", type=MemoryGib(), metavar="16GiB", help="Memory of each GPU.")
@click.option("--vcpus", type=Above(), metavar="N", help="Virtual processors of the host.")
@click.option("--memory", type=MemoryGib(), metavar="64GiB", help="Memory of the host.")
@click.option("--price", type=HourlyPrice(), metavar="0.5USD", help="What an hour of it costs.")
@click.option("--spot-price", type=HourlyPrice(), metavar="0.2USD", help="What an hour costs on the spot market.")
@click.option("--region", metavar="NAME", help="Where the prices hold; everywhere by default.")
@click.option("--date", metavar="DATE", help="When they held, such as 2024-12-05 or 2024; today by default.")
@click.option("--provider", metavar="NAME", help="Whose machine it is; own by default.")
@click.option("--fp32-tflops", type=Above(), metavar="N", help="Peak float32 rate of its GPU, if not known here.")
@click.option("--bandwidth-gb-s", type=Above(), metavar="N", help="Peak memory bandwidth of its GPU, likewise.")
@click.option("--force", is_flag=True, help="Replace the machine of that name, or win over the shipped one.")
@catalogue_option
@json_option
def add(
    name: str,
    gpu: str | None,
    gpus: float | None,
    gpu_memory: float | None,
    vcpus: float | None,
    memory: float | None,
    price: Money | None,
    spot_price: Money | None,
    region: str | None,
    date: str | None,
    provider: str | None,
    fp32_tflops: float | None,
    bandwidth_gb_s: float | None,
    force: bool,
    catalogue_path: str | None,
    as_json: bool,
) -> None:
    """Add a machine of your own, kept in a file of your own.

    Without --gpu, NAME is one that is known: with --force what you give takes the place of what was known of it, a
    price that of all its prices.
    """
    import msgspec

    from profet.instances.own import add_instance, check_own, known_with, told_gpu

    told = {
        "provider": provider,
        "gpu_count": gpus,
        "gpu_memory_gib": gpu_memory,
        "vcpus": vcpus,
        "memory_gib": memory,
        "prices": _prices(price, spot_price, region, checked_date(date)),
    }
    path = check_own(catalogue_path)
    try:
        base = known_with(path).find(name) if gpu is None else _new(name, gpu, gpu_memory)
        given = {fact: value for fact, value in told.items() if value is not None}
        machine = msgspec.structs.replace(base, **given)
    except InputError as error:
        raise InputError(f"{error}; for a new one say --gpu") from None
    except ValueError as error:
        raise InputError(str(error)) from None
    specs = told_gpu(path, machine, fp32_tflops, bandwidth_gb_s)
    replaced = add_instance(path, machine, specs, force)
    warnings = [] if specs is not None else [_unknown_gpu(machine.gpu or "", catalogue_path)]
    if as_json:
        print_json({"output": str(path), "name": name, "replaced": replaced, "warnings": warnings})
        return
    print_warnings(warnings)
    click.echo(one_line(f"{'replaced' if replaced else 'added'} {name} in {path}"))


def _new(name: str, gpu: str, gpu_memory_gib: float | None) -> "Instance":
    """Return a machine of which nothing is known but its GPU."""
    from profet.instances.catalogue import OWN_PROVIDER, OWN_SOURCE
    from profet.instances.gpu_names import gpu_name
    from profet.instances.instance import Instance

    short = gpu_name(gpu, gpu_memory_gib)
    return Instance(name=name, provider=OWN_PROVIDER, gpu=short, gpu_count=1.0, source=OWN_SOURCE)


def _prices(
    price: Money | None, spot_price: Money | None, region: str | None, date: str | None
) -> "tuple[Price, ...] | None":
    """Return the price that was told, of today unless a date was; None where none was."""
    from profet.instances.catalogue import OWN_SOURCE
    from profet.instances.instance import Price

    currencies = sorted({each.currency or DEFAULT_CURRENCY for each in (price, spot_price) if each is not None})
    if len(currencies) > 1:
        raise InputError(f"--price and --spot-price: give both in one currency, not {' and '.join(currencies)}")
    if not currencies and (region is not None or date is not None):
        raise InputError("--region and --date say where and when a price holds; give --price or --spot-price, too")
    if not currencies:
        return None
    try:
        told = Price(
            region=region,
            on_demand_per_hour=None if price is None else price.amount,
            spot_per_hour=None if spot_price is None else spot_price.amount,
            currency=currencies[0],
            date=date or datetime.date.today().isoformat(),
            source=OWN_SOURCE,
        )
    except ValueError as error:
        raise InputError(str(error)) from None
    return (told,)


def _unknown_gpu(name: str, catalogue_path: str | None) -> str:
    from profet.instances.catalogue import Catalogue

    near = suggest(name, Catalogue.load(catalogue_path).gpus)
    return f"GPU {name} is not known ({near}); nothing can be said of it without --fp32-tflops and --bandwidth-gb-s"


def checked_date(date: str | None) -> str | None:
    """Return a date that is one and not in the future.

    Raises:
        InputError: it is none, or still to come.
    """
    from profet.instances.instance import last_day

    if date is None:
        return None
    try:
        last_day(date)
    except ValueError as error:
        raise InputError(f"--date: {error}") from None
    if date > datetime.date.today().isoformat():
        raise InputError(f"--date: {date} is still to come; give the day, month or year in which the prices held")
    return date


@click.command()
@click.argument("name")
@catalogue_option
@json_option
def remove(name: str, catalogue_path: str | None, as_json: bool) -> None:
    """Take one of your own machines out of your file."""
    from profet.instances.own import check_own, remove_instance

    path = check_own(catalogue_path)
    remove_instance(path, name)
    if as_json:
        print_json({"output": str(path), "name": name})
    else:
        click.echo(one_line(f"removed {name} from {path}"))
