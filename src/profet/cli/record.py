"""``profet record``: what a run really took, kept beside what was predicted."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from profet.cli.options import (
    LatencyMs,
    bundle_option,
    gpu_option,
    history_option,
    interval_option,
    json_option,
    leave_out_steps_option,
    read_options,
    rules_option,
    steps_option,
)
from profet.cli.output import print_json, print_warnings
from profet.errors import InputError
from profet.printable import one_line

if TYPE_CHECKING:
    from profet.history.measurement import Measurement
    from profet.profiles.reading import ReadOptions


@click.command()
@click.argument("profile", required=False)
@click.option("--prediction", metavar="FILE", help="What predict --json printed, instead of a profile.")
@click.option("--target", required=True, metavar="NAME", help="Instance that the run was measured on.")
@click.option("--latency", type=LatencyMs(), required=True, help="Its step latency there, e.g. 158ms, 0.158s.")
@click.option("--measured-steps", type=click.IntRange(1), metavar="N", help="Steps that the latency is taken from.")
@click.option("--anchor", metavar="NAME", help="Instance that was profiled; the profile's own by default.")
@click.option("--anchor-latency", type=LatencyMs(), help="Step latency there without the profiler, e.g. 323ms.")
@click.option("--batch-size", type=click.IntRange(1), metavar="N", help="Of the workload; else the profile's.")
@click.option("--pixels", type=click.IntRange(1), metavar="N", help="Of the workload; else the profile's.")
@click.option("--note", metavar="TEXT", help="Your own words, kept with it.")
@click.option("--without-profile", is_flag=True, help="Do not keep the profile; the record then cannot teach.")
@steps_option
@gpu_option
@leave_out_steps_option
@rules_option
@interval_option
@bundle_option
@click.option("--id", "id_", metavar="UUID", help="Of the record; sending the same one again keeps one record.")
@click.option("--again", is_flag=True, help="A true repeat: keep it though an equal record is there.")
@click.option("--force", is_flag=True, help="Keep it though its latency or target looks mistaken.")
@history_option
@json_option
def record(
    profile: str | None,
    prediction: str | None,
    target: str,
    latency: float,
    measured_steps: int | None,
    anchor: str | None,
    anchor_latency: float | None,
    batch_size: int | None,
    pixels: int | None,
    note: str | None,
    without_profile: bool,
    steps: int | None,
    gpu: int | None,
    leave_out_steps: str,
    rules_path: str | None,
    interval: float,
    bundle_path: str | None,
    id_: str | None,
    again: bool,
    force: bool,
    history_place: str | None,
    as_json: bool,
) -> None:
    """Keep what a training step really took on a target, beside what is predicted for it.

    PROFILE is what was or would have been given to predict; it is kept too, so that the record can teach.
    """
    from profet.history.measurement import Measurement, new_id, now
    from profet.history.place import begin_history
    from profet.history.plausible import check_latency
    from profet.history.recording import check_new

    if (profile is None) == (prediction is None):
        raise InputError("give either a PROFILE or --prediction FILE")

    def measured(anchor: str) -> Measurement:
        """Return what was measured, nothing beside it yet."""
        return Measurement(
            id=new_id() if id_ is None else _uuid(id_),
            created=now(),
            anchor=anchor,
            target=target,
            measured_ms=latency,
            measured_steps=measured_steps,
            batch_size=batch_size,
            pixels=pixels,
            note=note,
        )

    try:
        if prediction is not None:
            beside, warnings = _beside_kept(measured, prediction, anchor)
        else:
            options = read_options(steps, anchor_latency, gpu, leave_out_steps, rules_path)
            source = _Source(str(profile), options, anchor, anchor_latency, bundle_path, interval, force)
            beside, warnings = _beside_profile(measured, source, not without_profile)
    except ValueError as error:
        raise InputError(f"cannot be recorded: {error}") from None
    if not force:
        check_latency(beside)
    history, told = begin_history(history_place)
    with history:
        earlier = history.record(beside, again)
    check_new(beside, earlier)
    _tell(beside, earlier is None, history.where, [*warnings, *told], as_json)


def _uuid(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise InputError(
            f"--id: {text[:60]!r} is no UUID; write it as 123e4567-e89b-12d3-a456-426614174000, or leave it out"
        ) from None


@dataclass(frozen=True)
class _Source:
    """What was profiled, and what is to predict for it."""

    path: str
    options: "ReadOptions"
    anchor: str | None
    anchor_latency_ms: float | None
    bundle_path: str | None
    interval: float
    new_target: bool


def _beside_profile(
    measured: Callable[[str], "Measurement"], source: _Source, keep_profile: bool
) -> tuple["Measurement", list[str]]:
    """Predict for a profile now."""
    from profet.history.recording import Anchored, beside_profile
    from profet.instances.catalogue import Catalogue
    from profet.predictors.bundle import Bundle
    from profet.profiles.formats import read_profile

    profiled = Anchored(read_profile(source.path, source.options), source.anchor, source.anchor_latency_ms)
    bundle = Bundle.load(source.bundle_path)
    bare = measured(profiled.name)
    found, warnings = beside_profile(
        bare, profiled, bundle, source.interval, Catalogue.load().instances, source.new_target
    )
    return found.of_profile(profiled.profile, keep_profile), warnings


def _beside_kept(
    measured: Callable[[str], "Measurement"], path: str, anchor: str | None
) -> tuple["Measurement", list[str]]:
    """Take the prediction that was kept in a file."""
    from profet.history.kept_prediction import check_target, read_prediction

    kept = read_prediction(path)
    if anchor not in (None, kept.anchor):
        raise InputError(f"{path}: is a prediction from {kept.anchor!r}, not {anchor!r}; leave out --anchor")
    found = measured(kept.anchor)
    check_target(kept, found.target, path)
    warnings = [] if kept.trained_on else [f"{path} does not say which bundle predicted; it cannot recalibrate one"]
    return found.beside(kept, kept.trained_on), warnings


def _tell(beside: "Measurement", new: bool, where: str, warnings: list[str], as_json: bool) -> None:
    """Say what was kept and how far it was from the prediction."""
    from profet.reports.history_tables import record_facts, record_sentence

    if as_json:
        print_json({"history": where, "new": new, **record_facts(beside), "warnings": warnings})
        return
    print_warnings(warnings)
    click.echo(one_line(record_sentence(beside)))
    click.echo(one_line(f"{'recorded in' if new else 'was there already, in'} {where} as {beside.id}"))
