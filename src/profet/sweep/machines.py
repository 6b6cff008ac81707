"""The machines of a sweep: what their data set calls them, and the settings that make them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from profet.errors import InputError
from profet.names import suggest

DEVICES = ("auto", "cpu", "cuda")
PRECISIONS = ("fp32", "tf32", "bf16")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")
_RESOURCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MOST_CHARACTERS = 1_000
_CAPS = {
    "ATEN_CPU_CAPABILITY": ("default", "avx2", "avx512"),
    "ONEDNN_MAX_CPU_ISA": (
        *(
            "SSE41",
            "AVX",
            "AVX2",
            "AVX2_VNNI",
            "AVX2_VNNI_2",
            "AVX512_CORE",
            "AVX512_CORE_VNNI",
            "AVX512_CORE_BF16",
        ),
        *("AVX512_CORE_FP16", "AVX512_CORE_AMX", "AVX512_CORE_AMX_FP16", "AVX10_1_512", "ALL", "DEFAULT"),
    ),
}
"""Values that PyTorch and oneDNN would pass over in silence when misspelt, and measure something else."""

_FORM = "write NAME or NAME:KEY=VALUE,KEY=VALUE"


@dataclass(frozen=True)
class Machine:
    """One instance of the data set that comes out.

    Args:
        name: what the data set calls it.
        device: "cpu", "cuda", or "auto" for CUDA where there is one.
        precision: of the arithmetic, one of PRECISIONS.
        environment: variables that are set before the framework starts, such as caps of the CPU.
        resource: of a Ray cluster that the nodes of this machine type have; its name where nothing is said.
    """

    name: str
    device: str = "auto"
    precision: str = "fp32"
    environment: dict[str, str] = field(default_factory=dict)
    resource: str = ""

    @property
    def needed(self) -> str:
        """The resource of Ray that it needs."""
        return self.resource or self.name


def parse_machine(text: str) -> Machine:
    """Read ``NAME`` or ``NAME:KEY=VALUE,...``; a key is device, precision, resource, or an environment variable.

    Raises:
        InputError: anything else.

    >>> parse_machine("cpu-avx2:ATEN_CPU_CAPABILITY=avx2").environment
    {'ATEN_CPU_CAPABILITY': 'avx2'}
    """
    name, colon, rest = text.partition(":")
    where = f"--instance {name[:60]}"
    if not _NAME.fullmatch(name):
        raise InputError(f"--instance {text[:60]!r}: its name may have letters, digits, '.', '_' and '-'; {_FORM}")
    if len(rest) > _MOST_CHARACTERS:
        raise InputError(f"{where}: over {_MOST_CHARACTERS} characters of settings")
    settings: dict[str, str] = {}
    for setting in rest.split(",") if colon else ():
        key, equals, value = setting.partition("=")
        if not equals or not key or key in settings or not value.isprintable():
            raise InputError(f"{where}: {setting[:60]!r} is no setting of its own; {_FORM}")
        settings[key] = value
    known = {"device": DEVICES, "precision": PRECISIONS, **_CAPS}
    for key, value in settings.items():
        if key not in {"device", "precision", "resource"} and not _VARIABLE.fullmatch(key):
            keys = ("device", "precision", "resource", *_CAPS)
            raise InputError(f"{where}: {key[:60]!r} is no setting and no variable; {suggest(key, keys)}")
        if key in known and value not in known[key]:
            raise InputError(f"{where}: {key}={value[:60]!r} is unknown; {suggest(value, known[key])}")
    own = {key: settings.pop(key) for key in ("device", "precision", "resource") if key in settings}
    if "resource" in own and not _RESOURCE.fullmatch(own["resource"]):
        raise InputError(f"{where}: {own['resource'][:60]!r} is no name of a resource")
    return Machine(name=name, environment=settings, **own)


def parse_machines(texts: Sequence[str]) -> tuple[Machine, ...]:
    """Read all.

    Raises:
        InputError: see parse_machine; or two have one name.
    """
    machines = tuple(parse_machine(text) for text in texts)
    names = [machine.name for machine in machines]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"--instance {twice}: stands there twice; give each its own name")
    return machines
