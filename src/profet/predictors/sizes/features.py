"""What tells how the times of a step grow with its size, and which families of work grow alike."""

from functools import lru_cache

import numpy as np

from profet.predictors.components import Components
from profet.predictors.context import context
from profet.predictors.sizes.sizes import Sizes
from profet.profiles.arrays import FloatArray
from profet.profiles.families import op_families

_ALONE = ("conv_forward", "conv_backward_data", "conv_backward_filter", "optimizer")
_LITTLE_US = 5.0


@lru_cache(maxsize=1)
def groups_of_families() -> tuple[tuple[str, ...], ...]:
    """Return the families of each group that grows alike; every device family is in one.

    The three convolutions and the optimizer stand alone; the rest goes by what bounds it: matrix products,
    bandwidth, launches, the bus.
    """
    table = op_families()
    rest = [name for name in table.device if name not in _ALONE]
    kinds = dict.fromkeys(table.kinds[name] for name in rest)
    return (*((name,) for name in _ALONE), *(tuple(n for n in rest if table.kinds[n] == kind) for kind in kinds))


def size_features(parts: Components, sizes: Sizes) -> FloatArray:
    """Return the features of n steps of known size, shape (n, features).

    The context of a step, its batch and pixels, and pooling, normalisation and bias against activations, which
    tell one architecture from another at any size.
    """
    device = op_families().device

    def log_us(kind: str) -> FloatArray:
        both = [device.index(f"{kind}_{way}") for way in ("forward", "backward")]
        logs: FloatArray = np.log(parts.families_us[:, both].sum(axis=1) + _LITTLE_US)
        return logs

    against = [log_us(kind) - log_us("activation") for kind in ("pool", "norm", "bias")]
    return np.column_stack([context(parts), np.log(sizes.batch_size), np.log(sizes.pixels), *against])
