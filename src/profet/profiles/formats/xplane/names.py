"""What names of events mean: the rules that TensorFlow's and JAX's profilers follow, as xprof applies them."""

import re

_TF_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_./>-]*")
_TF_TYPE = re.compile(r"[A-Z_][a-zA-Z0-9_]*")
_JAX_TYPE = re.compile(r"([a-z_][a-z0-9_]*)(\[.*\])?")
_COPY = re.compile(r"memcpy([hd])to([hd])", re.IGNORECASE)
_WRAPPER = re.compile(r"__(inference|forward|backward)_")
_HLO_SUFFIX = re.compile(r"(\.(\d+|clone|remat\d*))+$")
_KERAS_CALL = re.compile(
    r"EagerLocalExecute: __inference_"
    r"((?:multi_step_on_iterator|one_step_on_iterator|one_step_on_data|train_function)_\d+)"
)


def operation_type(full_name: str) -> str | None:
    """Return the type of an operation called ``name:Type``, None where it is none.

    Wrappers of whole functions are none: they would count what they hold twice.

    >>> operation_type("model/conv1/Conv2D:Conv2D"), operation_type("Iterator::Root::Prefetch")
    ('Conv2D', 'Dataset')
    >>> operation_type("jit(step)/transpose:transpose[permutation=(0, 1)]"), operation_type("model/Relu_1:")
    ('transpose', 'Relu')
    >>> operation_type("TfrtCpuBuffer::Await"), operation_type("EagerLocalExecute: __inference_step_12")
    (None, None)
    """
    name, colon, kind = full_name.partition(":")
    if not colon:
        copy = _COPY.match(name)
        return f"Memcpy{copy[1].upper()}To{copy[2].upper()}" if copy else None
    if name == "Iterator":
        return "Dataset"
    if _TF_NAME.fullmatch(name) and _TF_TYPE.fullmatch(kind):
        return None if _WRAPPER.match(kind) else kind
    derived = kind or re.sub(r"_\d+$", "", name.rpartition("/")[2])
    if found := _JAX_TYPE.fullmatch(derived):
        return None if _WRAPPER.match(found[1]) else found[1]
    return None if kind else derived or None


def event_operation_type(name: str) -> str | None:
    """Return the type of an operation whose event on the host has this name, None where it is none.

    JAX's types stand in stats; in a name they are what a user calls a range.

    >>> event_operation_type("model/conv1/Conv2D:Conv2D"), event_operation_type("epoch:train")
    ('Conv2D', None)
    """
    kind = operation_type(name)
    return None if kind is None or kind[0].islower() else kind


def hlo_operation(hlo_op: str) -> str:
    """Return the kind of an XLA operation: the innermost of its names without what numbers it.

    >>> hlo_operation("while.1::fusion.12.clone.3"), hlo_operation("loop_multiply_fusion")
    ('fusion', 'loop_multiply_fusion')
    """
    innermost = hlo_op.rpartition("::")[2]
    return _HLO_SUFFIX.sub("", innermost) or innermost


def keras_function(name: str) -> str | None:
    """Return the function that runs a step of Keras if an event is a call of it, None else.

    >>> keras_function("EagerLocalExecute: __inference_multi_step_on_iterator_383")
    'multi_step_on_iterator_383'
    """
    found = _KERAS_CALL.fullmatch(name)
    return found[1] if found else None
