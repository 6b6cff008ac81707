"""What is known of a step beside the time of one family: the features that all members share."""

import numpy as np

from profet.predictors.components import Components
from profet.profiles.arrays import FloatArray
from profet.profiles.families import op_families

_LITTLE_US = 5.0
_GROUPS: dict[str, tuple[str, ...]] = {
    "convolution": ("conv_forward", "conv_backward_data", "conv_backward_filter"),
    "matrix": ("matmul", "attention"),
    "memory": (
        "depthwise", "depthwise_backward_filter", "norm_forward", "norm_backward", "pool_forward",
        "pool_backward", "activation_forward", "activation_backward", "bias_forward", "bias_backward",
        "elementwise", "data_movement",
    ),
    "optimizer": ("optimizer",),
    "copy": ("copy",),
    "launch": ("loss", "bookkeeping"),
}  # fmt: skip
_BANDWIDTH = tuple(name for name in _GROUPS["memory"] if name != "data_movement")


def _log_ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    ratio: FloatArray = np.log((above + _LITTLE_US) / (below + _LITTLE_US))
    return ratio


def context(parts: Components) -> FloatArray:
    """Return the features of n steps, shape (n, features); the logs are natural, of µs.

    Sizes (step, convolution, bandwidth-bound work, input), intensities (convolution against bandwidth-bound work
    and against activations, matrix products, optimizer), the two backward convolutions against the forward one and
    each other, what is not device time (gap, idle), and the square roots of each group's share of the step.
    """
    index = {name: place for place, name in enumerate(op_families().device)}

    def time(*families: str) -> FloatArray:
        total: FloatArray = parts.families_us[:, [index[family] for family in families]].sum(axis=1)
        return total

    step, busy = parts.step_us, np.maximum(parts.busy_us, 1e-3)
    convolution, bandwidth = time(*_GROUPS["convolution"]), time(*_BANDWIDTH)
    forward, data, filter_ = (time(family) for family in _GROUPS["convolution"])
    groups = np.stack([*(time(*families) for families in _GROUPS.values()), parts.gap_us], axis=1)
    return np.column_stack(
        [
            np.log(step),
            np.log(convolution + _LITTLE_US),
            np.log(bandwidth + _LITTLE_US),
            np.log(parts.input_us + 100),
            _log_ratio(convolution, bandwidth),
            _log_ratio(convolution, time("activation_forward", "activation_backward")),
            np.log(time(*_GROUPS["matrix"]) + _LITTLE_US),
            np.log(time("optimizer") + _LITTLE_US),
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
