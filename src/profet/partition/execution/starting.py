"""Starting a unit's process: what it must not do, and how long it may take."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from profet.partition.units import Unit
from profet.quantities import MS_PER_S

START_TIMEOUT_S = 300.0
"""A process that has not loaded its network by then hangs: frameworks may compile for minutes."""

_WARM_UP_TIMEOUT_S = 60.0
_TIMES_PREDICTED = 20.0
_COMPILES_FOR_EACH_SIZE = frozenset(["tvm", "tensorrt"])
_starting = threading.Lock()


def warm_up_timeout_s(unit: Unit, predicted_ms: float, asked_s: float | None = None) -> float:
    """Return when a unit that is still warming up for a size is taken to hang.

    Args:
        unit: which; those that compile for each size may take minutes.
        predicted_ms: what a batch of that size takes.
        asked_s: as the user said; None for a generous multiple of what is predicted.
    """
    if asked_s is not None:
        return asked_s
    compiles = {unit.backend, unit.device.partition(":")[0]} & _COMPILES_FOR_EACH_SIZE
    return max(START_TIMEOUT_S if compiles else _WARM_UP_TIMEOUT_S, _TIMES_PREDICTED * predicted_ms / MS_PER_S)


@contextmanager
def main_unseen() -> Iterator[None]:
    """Keep multiprocessing from running the user's script again in the new process, which needs nothing of it.

    Otherwise a script without ``if __name__ == "__main__":`` would start units without end, and one that is read
    from standard input could not start any.
    """
    main = vars(sys.modules["__main__"])
    with _starting:
        kept: dict[str, Any] = {name: main.pop(name) for name in ("__file__", "__spec__") if name in main}
        main["__spec__"] = None
        try:
            yield
        finally:
            del main["__spec__"]
            main.update(kept)
