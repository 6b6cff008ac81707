"""Tells formats apart by the first bytes of a file, compressed or not; nothing of a reader is loaded for it."""

import re
from collections.abc import Callable

from profet.profiles.formats.json_documents import looks_like_json

_BOM = b"\xef\xbb\xbf"
_SQLITE = b"SQLite format 3\0"
_XPLANE = re.compile(
    rb"\x0a[\x80-\xff]{0,9}[\x00-\x7f]"  # the first plane and its length
    rb"(?:\x08[\x80-\xff]{0,9}[\x00-\x7f])?"  # its id, where that is not zero
    rb"\x12[\x00-\x7f](?:/host:|/device:|Task Env|#)"
)
_HARDWARE = (
    b"utilization_gpu_mean",
    b"power_draww_mean",
    b"utilization.gpu",
    b"power.draw",
    b"memory.used",
    b"clocks.current.sm",
)


def looks_like_chrome_trace(head: bytes) -> bool:
    """Whether it opens a JSON object with a list of traceEvents, or a list of events."""
    text = head.removeprefix(_BOM).lstrip()
    if text.startswith(b"{"):
        return b'"traceEvents"' in head or (b'"schemaVersion"' in head and b'"deviceProperties"' in head)
    return text.startswith(b"[") and b'"ph"' in head[:4096]


def looks_like_sqlite(head: bytes) -> bool:
    """Whether it opens a SQLite database."""
    return head.startswith(_SQLITE)


def looks_like_hardware_metrics(head: bytes) -> bool:
    """Whether the first line names statistics of nvidia-smi's counters, or the counters themselves."""
    first = _first_line(head)
    return any(name in first for name in _HARDWARE)


def looks_like_op_stats(head: bytes) -> bool:
    """Whether the first line holds the columns of an op-stats table."""
    first = _first_line(head)
    return b"host/device" in first or (b"total time" in first and b"type" in first)


def looks_like_xplane(head: bytes) -> bool:
    """Whether it opens a message whose first part is a plane of a host or a device."""
    return _XPLANE.match(head) is not None


def _first_line(head: bytes) -> bytes:
    return head[:8192].replace(b"\0", b"").split(b"\n", 1)[0].lower()


SIGNS: dict[str, Callable[[bytes], bool]] = {
    "chrome-trace": looks_like_chrome_trace,
    "json": looks_like_json,
    "nsight-sqlite": looks_like_sqlite,
    "hardware-metrics-csv": looks_like_hardware_metrics,
    "op-stats-csv": looks_like_op_stats,
    "xplane": looks_like_xplane,
}
"""What each format is known by, in the order in which they are tried."""
