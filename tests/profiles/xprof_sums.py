"""Prints the self time (µs) and executions of operations by side and type, as xprof has them: FILE.xplane.pb.

Run in an environment that has xprof; it writes files of its own beside a copy.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

from xprof.convert import _pywrap_profiler_plugin

MOST_ROWS = 500


def main(path: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(path, Path(folder) / "host.xplane.pb")
        content, _ = _pywrap_profiler_plugin.xspace_to_tools_data(
            [str(copy)], "framework_op_stats", {"use_saved_result": False}
        )
    table = json.loads(content)[0]
    place = {column["id"]: index for index, column in enumerate(table["cols"])}
    if len(table["rows"]) >= MOST_ROWS:
        sys.exit(f"{path}: xprof left rows out, of which it shows at most {MOST_ROWS}")
    sums: dict[str, dict[str, list[float]]] = {"Host": {}, "Device": {}}
    for row in table["rows"]:
        side, kind, calls, time = (
            row["c"][place[name]]["v"] for name in ("host_or_device", "type", "occurrences", "total_self_time")
        )
        if kind != "IDLE":
            total = sums[side].setdefault(kind, [0.0, 0.0])
            total[0] += time
            total[1] += calls
    sys.stdout.write(json.dumps(sums) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
