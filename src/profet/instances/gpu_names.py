"""One spelling for a GPU, whichever price list or data sheet names it."""

import re

_MAKERS = re.compile(r"^(?:(?:nvidia|amd|tesla|instinct|geforce|grid)[\s_-]+)+", re.IGNORECASE)
_MARKETING = re.compile(r"\s+(?:tensor core|accelerators?)$", re.IGNORECASE)
_PLAIN = re.compile(r"[a-z]{1,4}\d{1,4}[a-z]?", re.IGNORECASE)
_LARGER_BOARDS = {"A100": (60.0, "A100-80GB"), "V100": (24.0, "V100-32GB")}
_NOT_GPUS = re.compile(
    r"tpu|trainium|inferentia|gaudi|hl-205|qualcomm|\bai ?100\b|fpga|xilinx|alveo", re.IGNORECASE
)


def gpu_name(text: str, memory_gib: float | None = None, machine: str = "") -> str:
    """Return a GPU's short name.

    Args:
        text: as somebody writes it.
        memory_gib: of one GPU, which tells boards of one name apart; None where unknown.
        machine: name of the instance, which may tell that it has the slower board of an H100.

    >>> gpu_name("NVIDIA Tesla V100"), gpu_name("t4"), gpu_name("NVIDIA A100", 80), gpu_name("Radeon Pro V520")
    ('V100', 'T4', 'A100-80GB', 'Radeon Pro V520')
    """
    name = " ".join(text.split())
    name = _MARKETING.sub("", _MAKERS.sub("", name)) or name
    if _PLAIN.fullmatch(name):
        name = name.upper()
    if name == "H100" and "pcie" in machine.lower():
        return "H100-PCIe"
    least_gib, larger = _LARGER_BOARDS.get(name, (0.0, name))
    return larger if memory_gib is not None and memory_gib >= least_gib else name


def is_gpu(text: str) -> bool:
    """Whether an accelerator is a GPU, not another kind of chip that price lists hold beside them.

    >>> is_gpu("T4"), is_gpu("tpu-v3-8"), is_gpu("Trainium")
    (True, False, False)
    """
    return _NOT_GPUS.search(text) is None
