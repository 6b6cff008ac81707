"""What ``profet sweep`` does between its options and what it prints."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from profet.capture.plan import CapturePlan
from profet.cli.output import check_apart, print_warnings
from profet.cli.sweep_printing import Printing
from profet.errors import InputError
from profet.files import check_output
from profet.sweep.campaign import Campaign, Runner, one_after_another
from profet.sweep.machines import parse_machines
from profet.sweep.needs import check_core, check_installed, check_space, keep_off
from profet.sweep.outcomes import FAILED, MEMORY, NOISY
from profet.sweep.parts import Parts
from profet.sweep.request import Limits, Request
from profet.sweep.workloads import Workload, read_workloads, workloads_of

if TYPE_CHECKING:
    from profet.datasets.dataset import Dataset

_LARGEST_SIZE = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOptions:
    """The options of the command, under their names."""

    models: str | None
    batch_sizes: str | None
    pixels: str | None
    table: str | None
    optimizers: str
    instances: tuple[str, ...]
    repeats: int
    core: int | None
    warm_up: int
    timed: int
    profiled: int
    max_waited: float
    max_spread: float
    max_company: float | None
    max_minutes: float
    tries: int
    address: str | None
    again: bool
    as_it_is: bool
    output: str
    force: bool


def prepared(options: SweepOptions) -> Campaign:
    """Check all that can be wrong before anything runs; print what is left out.

    Raises:
        ProfetError: in one line, whatever the user should change.
    """
    workloads, left_out = _workloads(options)
    request = Request(
        tuple(workloads),
        parse_machines(options.instances),
        options.repeats,
        CapturePlan(options.warm_up, options.timed, options.profiled),
        options.core,
        _limits(options),
    )
    check_output(options.output, options.force)
    if options.table is not None:
        check_apart(options.table, options.output)
    if options.address is None and not options.as_it_is:
        check_installed(request)
        check_core(options.core)
    check_space(options.output, request)
    parts = Parts.beside(options.output, request)
    print_warnings(left_out)
    return Campaign(request, parts)


def _limits(options: SweepOptions) -> Limits:
    company = math.inf if options.max_company is None else options.max_company
    return Limits(options.max_waited, options.max_spread, options.tries, options.max_minutes, company)


def _workloads(options: SweepOptions) -> tuple[list[Workload], list[str]]:
    product = {"--models": options.models, "--batch-sizes": options.batch_sizes, "--pixels": options.pixels}
    if options.table is not None:
        given = next((name for name, text in product.items() if text is not None), None)
        if given is not None:
            raise InputError(f"{given}: --workloads names every workload; leave one of the two out")
        return read_workloads(options.table), []
    missing = next((name for name, text in product.items() if text is None), None)
    if missing is not None:
        raise InputError(f"{missing}: say what is to be trained with {', '.join(product)}, or with --workloads")
    return workloads_of(
        _names(options.models or ""),
        _sizes(options.batch_sizes or "", "--batch-sizes"),
        _sizes(options.pixels or "", "--pixels"),
        _names(options.optimizers),
    )


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _sizes(text: str, what: str) -> list[int]:
    sizes = _names(text)
    wrong = next((size for size in sizes if not (size.isascii() and size.isdigit()) or len(size) > 9), None)
    if wrong is not None:
        raise InputError(f"{what}: {wrong[:20]!r} is no size; give whole numbers, commas between")
    if not sizes or not all(1 <= int(size) <= _LARGEST_SIZE for size in sizes):
        raise InputError(f"{what}: {text[:40]!r}: give sizes from 1 to {_LARGEST_SIZE}, commas between")
    return [int(size) for size in sizes]


def carry_out(campaign: Campaign, options: SweepOptions) -> "Dataset":
    """Capture what is missing, and write the data set.

    Raises:
        ProfetError: in one line, whatever the user should change; what was captured is kept.
    """
    from profet.sweep.assembling import assemble

    parts = campaign.parts
    if not options.as_it_is:
        runner = _runner(campaign, options.address)
        with parts.opened(), Printing() as listener:
            parts.forget_notes((NOISY, MEMORY, FAILED) if options.again else (NOISY,))
            campaign.carry_out(runner, listener)
    made = assemble(campaign.request, parts, campaign.measured())
    made.save(options.output, options.force)
    return made


def _runner(campaign: Campaign, address: str | None) -> Runner:
    if address is None:
        keep_off(campaign.request.core)
        return one_after_another
    from profet.sweep.on_ray import runner

    return runner(address, campaign.request.machines, lambda text: print_warnings([text]))


def interrupted(campaign: Campaign) -> str:
    """Say what Ctrl-C left."""
    done, total = len(campaign.measured()), len(campaign.request)
    return f"interrupted; {campaign.parts.folder} keeps {done} of {total} runs, and the same command goes on"
