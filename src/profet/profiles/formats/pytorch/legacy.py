"""Traces of PyTorch's first profiler (up to 1.8): a bare list, without categories and ids.

An operation is written under the process "CPU functions", each of its kernels right behind it under "CUDA
functions", on the thread whose number is the GPU's. Operations have no namespace before 1.7.
"""

import re

from profet.profiles.formats.pytorch.json_events import Arguments, Event

_HOST, _DEVICE = "CPU functions", "CUDA functions"
_BARE = re.compile(r"[a-z_][a-z0-9_]*$")


class Modernised:
    """Gives the events of such a trace the words of a later one; knows the operation that was written last."""

    def __init__(self) -> None:
        self._operations = 0

    def events(self, events: list[Event]) -> list[Event]:
        """Return those that ran for a time, with category, id, namespace and GPU."""
        known = [event for event in events if event.ph == "X" and not event.cat]
        return [self._event(event) for event in known if event.pid in {_HOST, _DEVICE}]

    def _event(self, event: Event) -> Event:
        if event.pid == _HOST:
            self._operations += 1
            name = f"aten::{event.name}" if _BARE.match(event.name) else event.name
            event.cat, event.name = "cpu_op", name
        else:
            event.cat, event.pid = "kernel", event.tid
        event.args = Arguments(external_id=self._operations)
        return event
