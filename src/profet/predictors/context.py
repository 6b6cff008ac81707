"""What is known of a step beside the time of one family: the features that all members share."""

from functools import lru_cache

import numpy as np

from profet.predictors.components import Components
from profet.profiles.arrays import FloatArray
from profet.profiles.families import op_families

_LITTLE_US = 5.0
_CONVOLUTION = ("conv_forward", "conv_backward_data", "conv_backward_filter")
_MATRIX = ("matmul", "attention")


def _groups() -> dict[str, tuple[str, ...]]:
    """Return the families of each group that takes a share of the step."""
    table = op_families()

    def of(kind: str) -> tuple[str, ...]:
        return tuple(name for name in table.device if table.kinds[name] == kind and name != "optimizer")

    return {
        "convolution": _CONVOLUTION,
        "matrix": _MATRIX,
        "memory": of("memory"),
        "optimizer": ("optimizer",),
        "copy": of("copy"),
        "launch": of("launch"),
    }


@lru_cache(maxsize=1)
def _sums() -> FloatArray:
    """Return which family adds to which sum that context looks at, shape (families, sums)."""
    groups = _groups()
    bandwidth = tuple(name for name in groups["memory"] if name != "data_movement")
    activations = ("activation_forward", "activation_backward")
    wanted = [*groups.values(), bandwidth, activations, *((name,) for name in _CONVOLUTION)]
    return np.array([[float(family in each) for each in wanted] for family in op_families().device])


def _log_ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    ratio: FloatArray = np.log((above + _LITTLE_US) / (below + _LITTLE_US))
    return ratio


def context(parts: Components) -> FloatArray:
    """Return the features of n steps, shape (n, features); the logs are natural, of µs.

    Sizes (step, convolution, bandwidth-bound work, input), intensities (convolution against bandwidth-bound work
    and against activations, matrix products, optimizer), the two backward convolutions against the forward one and
    each other, what is not device time (gap, idle), and the square roots of each group's share of the step.
    """
    step, busy = parts.step_us, np.maximum(parts.busy_us, 1e-3)
    sums = parts.families_us @ _sums()
    groups = np.column_stack([sums[:, :6], parts.gap_us])
    convolution, matrix, _, optimizer, _, _, bandwidth, activations, forward, data, filter_ = sums.T
    return np.column_stack(
        [
            np.log(step),
            np.log(convolution + _LITTLE_US),
            np.log(bandwidth + _LITTLE_US),
            np.log(parts.input_us + 100),
            _log_ratio(convolution, bandwidth),
            _log_ratio(convolution, activations),
            np.log(matrix + _LITTLE_US),
            np.log(optimizer + _LITTLE_US),
            _log_ratio(filter_, forward),
            _log_ratio(data, forward),
            _log_ratio(data, filter_),
            parts.gap_us / step,
            parts.idle_us / (parts.idle_us + busy),
            np.log(parts.gap_us + 200),
            np.log(parts.idle_us + 1),
            3 * np.sqrt(groups / step[:, None]),
        ]
    )
