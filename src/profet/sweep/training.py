"""One workload in a process of its own: ``python -m profet.sweep.training TASK`` trains it and writes its profile.

Nothing of this is imported by the sweep: the environment that the task asks for stands before PyTorch starts.
"""

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from profet.sweep.own_process import end_with_owner, limit_memory, processor

PROFILE_FILE, REPORT_FILE = "profile.json", "report.json"
_CLASSES = 10
_LEARNING_RATE = 1e-3
_SEED = 1
_CAPABILITY = "ATEN_CPU_CAPABILITY"
_FIRST_WITH_TF32 = (8, 0)


class TrainingTask(msgspec.Struct, frozen=True):
    """What to train, and how to capture it.

    Args:
        folder: where profile and report go.
        model: of the zoo.
        pixels: width and height of its images.
        batch_size: images per step.
        optimizer: by its name in profet.sweep.workloads.
        instance: what the profile says it was measured on.
        device: "auto", "cpu" or "cuda".
        precision: "fp32", "tf32" or "bf16".
        core: to stay on, with one thread; None for all.
        warm_up: steps that pass.
        timed: steps that are timed.
        profiled: steps that are profiled.
    """

    folder: str
    model: str
    pixels: int
    batch_size: int
    optimizer: str
    instance: str
    device: str
    precision: str
    core: int | None
    warm_up: int
    timed: int
    profiled: int


class Report(msgspec.Struct, frozen=True):
    """What the process says when it is done.

    Args:
        machine: what trained: processor or GPU, version of PyTorch; empty where it did not come so far.
        out_of_memory: whether memory ran out.
        problem: why there is no profile, else empty.
    """

    machine: str = ""
    out_of_memory: bool = False
    problem: str = ""


def main() -> None:
    """Carry out the task that the command line tells; the report is written whatever happens in Python."""
    task = msgspec.json.decode(sys.argv[1], type=TrainingTask)
    end_with_owner(Path(task.folder))
    try:
        report = _capture(task)
    except Exception as error:
        report = _failure(error)
    Path(task.folder, REPORT_FILE).write_bytes(msgspec.json.encode(report))


def _capture(task: TrainingTask) -> Report:
    if task.core is not None:
        os.sched_setaffinity(0, {task.core})
    import torch

    if task.core is not None:
        torch.set_num_threads(1)
    device = task.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    name = torch.cuda.get_device_name() if device == "cuda" else processor()
    machine = f"{name}, PyTorch {torch.__version__}"
    has_tf32 = device == "cuda" and torch.cuda.get_device_capability() >= _FIRST_WITH_TF32
    problem = _refused(task, device, torch.backends.cpu.get_cpu_capability(), has_tf32)
    if problem:
        return Report(machine, problem=problem)
    if device == "cpu":
        limit_memory()
    try:
        _train(task, device)
    except Exception as error:
        return msgspec.structs.replace(_failure(error), machine=machine)
    return Report(machine)


def _refused(task: TrainingTask, device: str, capability: str, has_tf32: bool) -> str:
    """Say where the processor does not do what is asked of it: PyTorch would take what it has, in silence."""
    if task.precision == "tf32" and not has_tf32:
        return "precision=tf32: only NVIDIA GPUs since Ampere have it, and this would train in fp32; leave it out"
    asked = os.environ.get(_CAPABILITY, "")
    if device == "cpu" and asked and asked.upper() != capability.upper():
        return f"{_CAPABILITY}={asked}: this processor has {capability.lower()}; leave the instance out"
    return ""


def _train(task: TrainingTask, device: str) -> None:
    """Train for as many steps as a capture takes."""
    from profet.capture.plan import CapturePlan
    from profet.capture.torch import StepProfiler

    step = _step(task, device)
    options: dict[str, Any] = {
        "instance": task.instance,
        "batch_size": task.batch_size,
        "pixels": task.pixels,
        "warm_up": task.warm_up,
        "timed": task.timed,
        "profiled": task.profiled,
    }
    with StepProfiler(Path(task.folder, PROFILE_FILE), **options) as profiler:
        for _ in range(CapturePlan(task.warm_up, task.timed, task.profiled).steps):
            step()
            profiler.step()


def _step(task: TrainingTask, device: str) -> Callable[[], None]:
    """Return a training step of the network on images and labels drawn at random, the same in every step."""
    import torch
    from torch.nn.functional import cross_entropy

    from profet import zoo

    torch.manual_seed(_SEED)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = task.precision == "tf32"
    net = zoo.build(task.model, task.pixels, _CLASSES).to(device)
    optimizer = _optimizer(torch.optim, task.optimizer)(net.parameters())
    images = torch.rand(task.batch_size, 3, task.pixels, task.pixels).to(device)
    labels = torch.randint(_CLASSES, (task.batch_size,)).to(device)
    reduced = torch.autocast(device, torch.bfloat16) if task.precision == "bf16" else contextlib.nullcontext()

    def step() -> None:
        optimizer.zero_grad()
        with reduced:
            loss = cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()

    return step


def _optimizer(optim: Any, name: str) -> Callable[[Any], Any]:
    made = {
        "SGD": lambda weights: optim.SGD(weights, lr=_LEARNING_RATE),
        "Momentum": lambda weights: optim.SGD(weights, lr=_LEARNING_RATE, momentum=0.9),
        "Adam": lambda weights: optim.Adam(weights, lr=_LEARNING_RATE),
        "RMSprop": lambda weights: optim.RMSprop(weights, lr=_LEARNING_RATE),
    }
    return made[name]


def _failure(error: Exception) -> Report:
    from profet.partition.backends.failures import error_line, is_out_of_memory

    return Report(out_of_memory=is_out_of_memory(error), problem=f"{type(error).__name__}: {error_line(error)}")


if __name__ == "__main__":
    main()
