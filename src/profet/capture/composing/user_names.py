"""Names that the person who trains has given are taken out of a captured trace: a profile holds operations alone.

Of ranges those keep their names that frameworks make, without the function, class or layer that these write behind
their own word. Operations keep theirs.
"""

import re
from dataclasses import replace

import numpy as np

from profet.profiles.traces.trace import NO_OPERATION, Trace

_OPTIMIZERS = (
    "Adadelta|Adafactor|Adagrad|Adam|Adamax|AdamW|ASGD|LBFGS|Muon|NAdam|PostLocalSGDOptimizer|RAdam|RMSprop|Rprop"
    "|SGD|SparseAdam|ZeroRedundancyOptimizer"
)
"""PyTorch's own; any other class is somebody else's."""

_KNOWN_RANGE = re.compile(
    rf"Optimizer\.(step|zero_grad)#(?:{_OPTIMIZERS})\.\1$"
    r"|enumerate\(DataLoader\)(?:#_(?:SingleProcess|MultiProcessing)DataLoaderIter\.__next__$|(?=#))"
    r"|autograd::engine::evaluate_function(?=: )"
    r"|PjitFunction(?=\()"
    r"|EagerLocalExecute(?:: [A-Z]\w*$|(?=: ))"
    r"|profet$"
)
"""What is kept of the name of a range: of JAX's ``PjitFunction(train_step)`` the first word."""

_OF_AN_OPTIMIZER = re.compile(r"Optimizer\.(?:step|zero_grad)#")
_OTHER_OPTIMIZER, _OTHER_RANGE = "(other optimizers)", "(other ranges)"
_OF_A_FUNCTION = re.compile(r"([a-z_]+)\(.*\)")
"""An operation that JAX names by what it does to a function of the user: ``jit(train_step)``."""


def without_user_names(trace: Trace) -> Trace:
    """Return a trace whose ranges and operations do not show what the user called functions, classes or ranges."""
    host, device = trace.host, trace.device
    of_host, of_device = np.unique(host.name[host.is_operation]), np.unique(device.operation)
    operations = {*of_host.tolist(), *of_device.tolist()} - {NO_OPERATION}
    ranges = set(np.unique(host.name).tolist()) - operations - set(np.unique(device.name).tolist())
    named = list(trace.names)
    for index in ranges:
        named[index] = _of_range(named[index])
    for index in operations:
        found = _OF_A_FUNCTION.fullmatch(named[index])
        named[index] = found[1] if found else named[index]
    return replace(trace, names=named)


def _of_range(name: str) -> str:
    """Return what is kept of a range's name.

    >>> _of_range("PjitFunction(train_step)"), _of_range("Optimizer.step#Mine.step"), _of_range("augment")
    ('PjitFunction', 'Optimizer.step#(other optimizers)', '(other ranges)')
    >>> _of_range("Optimizer.step#AdamW.step"), _of_range("EagerLocalExecute: __inference_step_12")
    ('Optimizer.step#AdamW.step', 'EagerLocalExecute')
    """
    known = _KNOWN_RANGE.match(name)
    if known:
        return known[0]
    optimizer = _OF_AN_OPTIMIZER.match(name)
    return optimizer[0] + _OTHER_OPTIMIZER if optimizer else _OTHER_RANGE
