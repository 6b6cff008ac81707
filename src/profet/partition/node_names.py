"""Names of units on other machines: ``ray://NODE:`` before the name that the unit has there."""

import re

from profet.errors import InputError

RAY = "ray://"

_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", re.ASCII)


def fits_a_name(node: str) -> bool:
    """Whether a node can be called so in the name of a unit."""
    return _NODE.fullmatch(node) is not None


def split_node(text: str) -> tuple[str | None, str]:
    """Take the node off a unit's name.

    Returns:
        The node, None for a unit of this machine; and what the unit is called there.

    Raises:
        InputError: it begins as one of a node and goes on as none.

    >>> split_node("ray://10.0.0.7:onnxruntime:cpu@0-3")
    ('10.0.0.7', 'onnxruntime:cpu@0-3')
    """
    if not text.startswith(RAY):
        return None, text
    node, _, unit = text.removeprefix(RAY).partition(":")
    if not fits_a_name(node) or not unit or unit.startswith(RAY):
        raise InputError(
            f"--device: '{text[:80]}' is no unit of a node; write it as {RAY}NODE:onnxruntime:cpu; profet partition"
            " units --ray lists them"
        )
    return node, unit
