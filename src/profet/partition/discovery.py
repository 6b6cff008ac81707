"""Finds what this machine has: the devices of every runtime, and which unit a name such as ``gpu0`` stands for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from profet.errors import InputError
from profet.names import suggest
from profet.partition.backends.failures import error_line
from profet.partition.backends.protocol import Backend, Device
from profet.partition.backends.registry import backend, backends
from profet.partition.cores import usable_cores
from profet.partition.node_names import split_node
from profet.partition.units import SHORT_NAME, Unit, format_cores, parse_unit, split_names

SIMULATED = "simulated"
_CPU_BACKENDS = ("onnxruntime", "openvino", "torch")
_INTEGRATED = (("openvino", "GPU"), ("onnxruntime", "directml"), ("torch", "mps"))
_CUDA = (("onnxruntime", "cuda"), ("torch", "cuda"), ("tvm", "cuda"))
"""Where units of a kind are looked for: backend and kind of device, the best first."""


@dataclass(frozen=True, slots=True)
class FoundBackend:
    """What a backend told about itself and this machine.

    Attributes:
        name: of the backend.
        install: what a user types to get it.
        version: installed one; None where it is not installed.
        devices: that it found.
        problem: why it found none although it is installed; None where all is well.
    """

    name: str
    install: str
    version: str | None
    devices: tuple[Device, ...] = ()
    problem: str | None = None


def look_at(one: Backend) -> FoundBackend:
    """Ask a backend for its devices; a broken framework is told of, whatever it raises."""
    version = one.version()
    if version is None:
        return FoundBackend(one.name, one.install, None)
    try:
        return FoundBackend(one.name, one.install, version, tuple(one.devices()))
    except Exception as error:  # a framework that is broken may raise anything
        return FoundBackend(one.name, one.install, version, (), error_line(error))


def look_at_all() -> list[FoundBackend]:
    """Ask every backend but the simulated one, which needs no hardware."""
    return [look_at(each) for each in backends() if each.name != SIMULATED]


def resolve_units(text: str) -> tuple[Unit, ...]:
    """Return the units that ``--device`` names.

    Args:
        text: names with commas between: ``cpu``, ``igpu``, ``gpu0`` for what this machine has, or exact ones; each
            with ``ray://NODE:`` before it for what another machine has.

    Raises:
        InputError: no such name or device, a runtime that is not installed or broken, or cores that are not there.
    """
    units: list[Unit] = []
    for name in split_names(text):
        unit = _resolved(name)
        same = next((each for each in units if each.full_name == unit.full_name), None)
        if same is not None:
            raise InputError(f"--device: {same.name} and {unit.name} are the same unit; name one of them")
        units.append(unit)
    return tuple(units)


def _resolved(name: str) -> Unit:
    if split_node(name)[0] is None:
        return _short(name) if SHORT_NAME.fullmatch(name) else _exact(name)
    from profet.partition.remote.units import resolve_remote

    return resolve_remote(name)


def short_names(found: Sequence[FoundBackend]) -> dict[str, str]:
    """Return which unit each short name stands for: as ``{"cpu": "onnxruntime:cpu"}``."""
    names: dict[str, str] = {}
    processors = [f"{name}:cpu" for name in _CPU_BACKENDS if _devices(found, name, "cpu", "cpu")]
    integrated = [unit for name, kind in _INTEGRATED for unit in _devices(found, name, kind, "igpu")]
    if processors:
        names["cpu"] = processors[0]
    if integrated:
        names["igpu"] = integrated[0]
    return names | {f"gpu{index}": unit for index, unit in enumerate(_discrete(found))}


def _discrete(found: Sequence[FoundBackend]) -> list[str]:
    """Return discrete GPUs, each once: NVIDIA's first, in CUDA's order."""
    nvidia = next((units for units in (_devices(found, *each, "gpu") for each in _CUDA) if units), [])
    others = _devices(found, "openvino", "GPU", "gpu")
    return [*nvidia, *others] or _devices(found, "onnxruntime", "directml", "gpu")


def _devices(found: Sequence[FoundBackend], name: str, device: str, kind: str) -> list[str]:
    """Return the units of one backend whose device is of a kind."""
    matching = [each for one in found if one.name == name for each in one.devices if each.kind == kind]
    return [f"{name}:{each.device}" for each in matching if each.device.lower().startswith(device.lower())]


def _short(name: str) -> Unit:
    """Return what a short name stands for on this machine."""
    if name == "cpu":
        installed = [each for each in _CPU_BACKENDS if backend(each).version() is not None]
        if not installed:
            raise InputError(f"--device: cpu: no runtime is installed; {backend(_CPU_BACKENDS[0]).install}")
        return parse_unit(f"{installed[0]}:cpu").named(name)
    found = look_at_all()
    names = short_names(found)
    if name in names:
        return parse_unit(names[name]).named(name)
    kind = "integrated GPU" if name == "igpu" else f"discrete GPU {name.removeprefix('gpu')}"
    listed = ", ".join(f"{short} ({unit})" for short, unit in names.items()) or "nothing"
    broken = "".join(f"; {each.name} is broken ({each.problem})" for each in found if each.problem)
    wanted = "openvino:GPU.0" if name == "igpu" else f"onnxruntime:cuda:{name.removeprefix('gpu')}"
    raise InputError(
        f"--device: {name}: no {kind} was found that an installed runtime can use{broken}; there is {listed}."
        f" See what is missing with: profet partition units; or name it exactly, such as {wanted}"
    )


def _exact(name: str) -> Unit:
    """Return the unit of an exact name, whose device and cores are there."""
    unit = parse_unit(name)
    if unit.backend == SIMULATED:
        return unit
    one = backend(unit.backend)
    if one.version() is None:
        raise InputError(f"--device: {name[:80]}: {unit.backend} is not installed; {one.install}")
    _check_cores(unit)
    if unit.device.lower() == "cpu":
        return replace(unit, device="cpu")
    found = look_at(one)
    if found.problem:
        raise InputError(f"--device: {name[:80]}: {unit.backend} is broken: {found.problem}")
    known = [each.device for each in found.devices]
    meant = {unit.device.lower(), f"{unit.device.lower()}.0"}
    device = next((each for each in known if each.lower() in meant), None)
    if device is None:
        raise InputError(
            f"--device: {name[:80]}: {unit.backend} finds no device '{unit.device[:40]}' here;"
            f" {suggest(unit.device[:40], known)}; profet partition units tells what is missing"
        )
    return replace(unit, device=device)


def _check_cores(unit: Unit) -> None:
    usable = usable_cores()
    missing = tuple(core for core in unit.cores if core not in usable)
    if missing:
        raise InputError(
            f"--device: {unit.name[:80]}: this process may not use core {format_cores(missing)}; it may use"
            f" {format_cores(usable)}"
        )
