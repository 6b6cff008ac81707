"""What a sweep needs of this machine, looked at before it begins."""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

from profet.errors import InputError, MissingExtraError, OutputError
from profet.sweep.request import Request

_BYTES_PER_RUN = 128 * 1024
_BYTES_FREE = 64 * 2**20
_OWN = ("LeNet5", "AlexNet", "MNIST_CNN", "CIFAR10_CNN", "VGG")
_MIB = 2**20


def check_installed(request: Request) -> None:
    """Refuse networks that nothing here can train.

    Raises:
        MissingExtraError: PyTorch or the library of networks is not installed.
    """
    wanted = {"torch": "torch"}
    if any(not each.model.startswith(_OWN) for each in request.workloads):
        wanted["pytorchcv"] = "zoo"
    for package, extra in wanted.items():
        if find_spec(package) is None:
            raise MissingExtraError(
                f"a sweep needs {package}, which the extra {extra!r} brings: pip install 'profet-latency[{extra}]'"
            )


def check_core(core: int | None) -> None:
    """Refuse a core that this process may not use.

    Raises:
        InputError: there is none of this number, or the system cannot pin.
    """
    if core is None:
        return
    if not hasattr(os, "sched_setaffinity"):
        raise InputError("--core: this system cannot keep a process on a core; leave it out")
    usable = sorted(os.sched_getaffinity(0))
    if core not in usable:
        raise InputError(
            f"--core {core}: there is no such core; this machine lets us use {usable[0]} to {usable[-1]}"
        )


def keep_off(core: int | None) -> None:
    """Keep this process, which waits and draws a bar, off the core that is measured, where there is another."""
    others = set() if core is None else os.sched_getaffinity(0) - {core}
    if others:
        os.sched_setaffinity(0, others)


def check_space(output: str | Path, request: Request) -> None:
    """Refuse a disk that the parts of a sweep would fill.

    Raises:
        OutputError: there is too little room.
    """
    folder = Path(output).resolve().parent
    needed = _BYTES_FREE + _BYTES_PER_RUN * len(request)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise OutputError(
            f"{output}: {free // _MIB} MiB are free in {folder}, and {len(request)} runs need {needed // _MIB} MiB"
        )
