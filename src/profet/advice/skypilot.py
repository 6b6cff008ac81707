"""Hands advice over to SkyPilot: a task with its resources, and the expected time of each for SkyPilot's optimizer.

A task's YAML has no place for times, and what SkyPilot sends to its server is that YAML; so a small Python file
gives them to the optimizer in the user's own process. Both are written as text: YAML takes JSON's quoted strings as
they are, which leaves nothing that a library for YAML would have to escape.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from profet.advice.advice import Advice, Option
from profet.advice.choice import may_be_recommended, meets
from profet.advice.skypilot_launcher import launcher_python
from profet.errors import InputError, OutputError
from profet.files import check_output, write_whole
from profet.printable import one_line
from profet.quantities import S_PER_HOUR, format_hours, format_money

CHECKED_VERSION = "0.14.1"
"""The version of SkyPilot that both files were loaded with."""

CLOUDS = (
    *("aws", "azure", "cudo", "do", "fluidstack", "gcp", "hyperbolic", "ibm", "lambda", "mithril", "nebius", "oci"),
    *("paperspace", "primeintellect", "runpod", "scp", "seeweb", "shadeform", "vast", "verda", "vsphere", "yotta"),
)
"""Providers of that version."""

MOST_MACHINES = 8
"""Machines of a task at most; SkyPilot refuses them all where its own list lacks one of them."""

_TASK_NAME = "profet_task.yaml"
_ATTACHED = re.compile(r"(?P<machine>[^+]+)\+(?P<count>\d+)x(?P<gpu>.+)")
_AZURE = "Standard_"


@dataclass(frozen=True)
class Machine:
    """An option as SkyPilot names it.

    Args:
        option: of the advice.
        cloud: SkyPilot's name of the provider.
        instance_type: the provider's name of the machine.
        accelerators: such as "T4:1", where they are attached to a machine that can be had without; else None.
    """

    option: Option
    cloud: str
    instance_type: str
    accelerators: str | None

    @property
    def seconds(self) -> int:
        """Expected time of the whole run."""
        return round(self.option.hours * S_PER_HOUR)


def skypilot_machine(option: Option) -> Machine | None:
    """Name an option as SkyPilot does; None where SkyPilot does not know its provider."""
    cloud = (option.provider or "").lower()
    if cloud not in CLOUDS:
        return None
    attached = _ATTACHED.fullmatch(option.target) if cloud == "gcp" else None
    if attached:
        return Machine(option, cloud, attached["machine"], f"{attached['gpu']}:{attached['count']}")
    if cloud == "azure" and not option.target.startswith(_AZURE):
        return Machine(option, cloud, _AZURE + option.target.replace(" ", "_"), None)
    return Machine(option, cloud, option.target, None)


def machines(advice: Advice) -> list[Machine]:
    """Return the recommended option and those behind it that meet the demands too, in the order of the advice.

    Where no option meets the demands there is none.

    Raises:
        InputError: SkyPilot does not know the provider of the recommended one.
    """
    if advice.recommended is None:
        return []
    best = advice.option(advice.recommended)
    first = skypilot_machine(best)
    if first is None:
        raise InputError(
            f"--export skypilot: {best.target} is recommended, and its provider ({best.provider or 'unknown'})"
            " is none that SkyPilot knows; name --target instances of a cloud"
        )
    others = [
        machine
        for option in advice.options
        if option is not best and _does_too(option, best, advice)
        if (machine := skypilot_machine(option)) is not None
    ]
    return [first, *others[: MOST_MACHINES - 1]]


def _does_too(option: Option, best: Option, advice: Advice) -> bool:
    """Whether an option meets the demands as the best one does, and is not one whose cost nobody knows."""
    priced = option.cost is not None or best.cost is None
    return priced and may_be_recommended(option, advice.demands) and meets(option, advice.demands)


def task_yaml(advice: Advice, offered: Sequence[Machine], launcher: str) -> str:
    """Return a SkyPilot task: machines in order of preference, and room for what is to run.

    Args:
        advice: what was advised.
        offered: the machines, the one to take first.
        launcher: name of the Python file that lets SkyPilot choose by its own prices.
    """
    run = advice.run
    lines = [
        "# A task for SkyPilot, by profet advise: sky launch takes the first of these machines that it gets.",
        f"# To let it choose by today's prices and the times below instead: python {one_line(launcher)}",
        f"# Expected for {run.epochs} epochs of {run.samples} samples, start-up included:",
        *(f"#   {_told(machine, advice)}" for machine in offered),
        "name: profet-training",
        "resources:",
        "  ordered:",
        *(f"    - {json.dumps(_resources(machine, advice))}" for machine in offered),
        "envs:",
        f'  EPOCHS: "{run.epochs}"',
        f'  BATCH_SIZE: "{run.batch_size}"',
        "# setup: |",
        "#   pip install -r requirements.txt",
        "# run: |",
        '#   python train.py --epochs "$EPOCHS" --batch-size "$BATCH_SIZE"',
    ]
    return "\n".join(lines) + "\n"


def _resources(machine: Machine, advice: Advice) -> dict[str, str | bool]:
    region = advice.demands.region
    found: dict[str, str | bool] = {
        "infra": f"{machine.cloud}/{region}" if region else machine.cloud,
        "instance_type": machine.instance_type,
        "use_spot": advice.demands.spot,
    }
    if machine.accelerators is not None:
        found["accelerators"] = machine.accelerators
    return found


def _told(machine: Machine, advice: Advice) -> str:
    """Return time and cost of a machine with their intervals, on one line."""
    option, level = machine.option, f"{100 * advice.demands.interval:g} %"
    said = f"{option.target}: {format_hours(option.hours)}"
    if option.hours_low is not None and option.hours_high is not None:
        said += f" ({level}: {format_hours(option.hours_low)} to {format_hours(option.hours_high)})"
    if option.cost is not None:
        said += f", {format_money(option.cost, option.currency)}"
        if option.cost_low is not None and option.cost_high is not None:
            ends = (format_money(end, option.currency) for end in (option.cost_low, option.cost_high))
            said += f" ({level}: {' to '.join(ends)})"
    return one_line(said)


def check_skypilot(place: str | Path, force: bool) -> tuple[Path, Path]:
    """Return where task and launcher go: into a folder, or to a .yaml file and beside it; before any work is done.

    Raises:
        OutputError: neither, or see check_output.
    """
    path = Path(place)
    if path.is_dir():
        path /= _TASK_NAME
    if path.suffix not in (".yaml", ".yml"):
        raise OutputError(f"{place}: name a folder that is there, or a file ending in .yaml")
    launcher = path.with_name(f"{path.stem}_launch.py")
    return check_output(path, force), check_output(launcher, force)


def write_skypilot(advice: Advice, place: str | Path, force: bool = False) -> list[Path]:
    """Write a task for SkyPilot and the Python file with its times; return both paths.

    Where no option meets the demands nothing is written, and nothing returned.

    Raises:
        InputError: see machines.
        OutputError: see check_skypilot; or the disk refused.
    """
    task, launcher = check_skypilot(place, force)
    offered = machines(advice)
    if not offered:
        return []
    write_whole(task, task_yaml(advice, offered, launcher.name).encode("utf-8", "replace"), force)
    rows = [(machine.instance_type, machine.accelerators, machine.seconds) for machine in offered]
    write_whole(launcher, launcher_python(rows, task.name, CHECKED_VERSION).encode("utf-8", "replace"), force)
    return [task, launcher]
