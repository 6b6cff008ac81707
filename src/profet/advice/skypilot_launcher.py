"""The Python file that gives SkyPilot's optimizer the expected time on each machine of a task."""

import re
from collections.abc import Sequence


def launcher_python(rows: Sequence[tuple[str, str | None, int]], task: str, checked_version: str) -> str:
    """Return the text of the file.

    Args:
        rows: instance type, accelerators where the type does not tell them, and seconds of the whole run.
        task: name of the task's YAML, which lies beside it.
        checked_version: of SkyPilot.
    """
    table = "".join(f"    {row!r},\n" for row in rows)
    told = {"@VERSION@": checked_version, "@TASK@": repr(task), "@ROWS@": table}
    return re.sub("|".join(told), lambda place: told[place[0]], _LAUNCHER)


_LAUNCHER = '''"""Lets SkyPilot choose among machines by its own prices, given how long the training takes on each.

Written by profet advise; checked with SkyPilot @VERSION@. The optimizer runs in this process, since SkyPilot does
not send times to its server: sky.optimize and sky.launch alone would take an hour for every machine.
"""

from pathlib import Path

import sky

TASK = Path(__file__).with_name(@TASK@)
SECONDS = [  # instance type, GPUs where the type does not tell them, seconds of the whole training
@ROWS@]


def seconds(resources):
    """Return how long the training takes on a machine."""
    gpus = {f"{name}:{count:g}" for name, count in (resources.accelerators or {}).items()}
    for instance_type, accelerators, expected in SECONDS:
        if resources.instance_type == instance_type and accelerators in {None, *gpus}:
            return expected
    raise ValueError(f"no time is known for {resources}")


def chosen_task():
    """Return the task on the machine on which it costs least."""
    with sky.Dag() as dag:
        task = sky.Task.from_yaml(str(TASK))
    known = [each for each in task.resources if each.cloud.instance_type_exists(each.instance_type)]
    task.set_resources(set(known))  # a set: the order of the YAML does not decide
    task.set_time_estimator(seconds)
    sky.Optimizer.optimize(dag, minimize=sky.OptimizeTarget.COST)
    return task.set_resources(task.best_resources)


if __name__ == "__main__":
    task = chosen_task()
    # sky.stream_and_get(sky.launch(task))
'''
