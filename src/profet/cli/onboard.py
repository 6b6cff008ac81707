"""``profet onboard``: a new target for a bundle, from a few measured workloads."""

from typing import TYPE_CHECKING

import click

from profet.cli.history_records import check_from_store, from_store_option, keys_option, recorded_dataset
from profet.cli.options import bundle_option, force_option, history_option, json_option
from profet.cli.output import check_apart, print_json, print_tables, print_warnings
from profet.cli.progress import track
from profet.errors import InputError
from profet.quantities import parse_latency_ms

if TYPE_CHECKING:
    from profet.evaluation.onboarding.measurements import Measurements


@click.command()
@click.argument("name", required=False)
@click.option("--name", "named", metavar="NAME", help="The same as the argument.")
@click.option(
    "--from",
    "--measurements",
    "sources",
    multiple=True,
    metavar="FILE",
    help="A CSV or JSON table (model, batch, pixels, latency_ms), or a data set; repeatable.",
)
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    nargs=2,
    metavar="FILE LATENCY",
    help="A profile on an anchor and the same workload's latency on NAME; repeatable.",
)
@click.option("--anchor", metavar="NAME", help="Instance that was profiled; the profile's own by default.")
@from_store_option
@keys_option
@history_option
@bundle_option
@click.option("-o", "--output", required=True, metavar="BUNDLE", help="Where to write the bundle with NAME in it.")
@click.option("--replace", "replaced", is_flag=True, help="Put these in the place of what the bundle has of NAME.")
@force_option
@json_option
def onboard(
    name: str | None,
    named: str | None,
    sources: tuple[str, ...],
    profiles: tuple[tuple[str, str], ...],
    anchor: str | None,
    from_store: bool,
    keys: tuple[str, ...],
    history_place: str | None,
    bundle_path: str | None,
    output: str,
    replaced: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Add the instance NAME as a target to a bundle, from workloads measured there; nothing else in it changes.

    One workload is enough; every further one makes it better. Latencies alone do for workloads that the bundle
    learnt from; profiles of NAME, in a data set, tell more.
    """
    from profet.evaluation.onboarding.measurements import Measurements
    from profet.evaluation.onboarding.onboard import check_new, onboard, save_onboarded
    from profet.files import check_output
    from profet.predictors.bundle import Bundle
    from profet.reports.onboarding_tables import onboarding_facts, onboarding_tables

    name = _one_name(name, named)
    check_from_store(from_store, history_place, keys)
    check_output(output, force)
    for source in (*sources, *(path for path, _ in profiles)):
        check_apart(source, output)
    for path, latency in profiles:
        parse_latency_ms(latency, f"--profile {path}")
    bundle = Bundle.load(bundle_path)
    check_new(bundle, name, replaced)
    measured = Measurements(bundle, name)
    for source in sources:
        measured.add_file(source)
    _add_profiles(measured, profiles, anchor)
    if from_store:
        dataset, warnings = recorded_dataset(history_place, name, keys)
        measured.warnings += warnings
        measured.add_dataset(dataset, "history")
    onboarded = onboard(bundle, name, measured.workloads(), track)
    save_onboarded(bundle, onboarded, output, force)
    facts = onboarding_facts(onboarded)
    facts["warnings"] = [*measured.warnings, *facts["warnings"]]
    if as_json:
        print_json({"output": output, **facts})
        return
    print_warnings(facts["warnings"])
    print_tables(*onboarding_tables(facts))
    click.echo(f"wrote {output}")


def _one_name(argument: str | None, option: str | None) -> str:
    if argument is not None and option is not None:
        raise InputError(f"{argument[:40]!r} and --name {option[:40]!r}: name the new instance once")
    name = option if argument is None else argument
    if name is None:
        raise InputError("which instance is new? Give its name: profet onboard g6.xlarge --from FILE -o BUNDLE")
    return name


def _add_profiles(measured: "Measurements", profiles: tuple[tuple[str, str], ...], anchor: str | None) -> None:
    from profet.profiles.formats import read_profile

    if anchor is not None and not profiles:
        raise InputError("--anchor: says where a profile was measured; give one with --profile FILE LATENCY")
    for path, latency in profiles:
        unit = next((unit for unit in ("us", "ms") if latency.strip().endswith(unit)), "s")
        unit = unit if latency.strip()[-1:].isalpha() else "ms"
        measured.add_profile(read_profile(path), anchor, parse_latency_ms(latency), path, unit)
