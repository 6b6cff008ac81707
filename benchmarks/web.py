"""Times the service over HTTP on this machine, the load generator included, beside the published path.

    python -m benchmarks.web DATASET [--requests N] [--json]

DATASET is made by ``profet dataset import profet``. The load comes from wrk (apt-get install wrk), with profiles
that all differ; the service logs every request to a file. The published path is what the original answers with:
load three models, predict, at each request.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from urllib.request import urlopen

import msgspec
import psutil

import profet
from benchmarks.foundation import MIB, Figure
from benchmarks.predictors import command, median_seconds
from profet.predictors.bundle import Bundle
from profet.profiles.profile import SCHEMA

TARGET = "p3.2xlarge"
PROFET = (sys.executable, "-m", "profet")
PROFILES = 200
SECONDS = 10
CORES = 2
CONNECTIONS = 8
WARM_REQUESTS = 10_000

_SCRIPT = """
local bodies, at = {}, 0
for line in io.lines("BODIES") do bodies[#bodies + 1] = line end
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
request = function()
  at = at % #bodies + 1
  return wrk.format(nil, nil, nil, bodies[at])
end
done = function(summary, latency, requests)
  local failed = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout
  io.write(string.format("RESULT %d %d %d %d %d\\n", summary.requests, summary.duration, failed,
    latency:percentile(50), latency:percentile(99)))
end
"""


def bodies(targets: list[str], folder: Path) -> Path:
    """Write a script for wrk that asks about profiles of different times, one after the other."""
    chance = random.Random(1)
    example = profet.example_profile()
    lines = []
    for _ in range(PROFILES):
        factor = chance.uniform(0.3, 3)
        device_us = {name: us * factor * chance.uniform(0.8, 1.25) for name, us in example.device_us.items()}
        latency_ms = (example.step_latency_ms or 100.0) * factor
        profile = msgspec.structs.replace(example, device_us=device_us, step_latency_ms=latency_ms)
        body = {"profile": {"schema": SCHEMA, **msgspec.structs.asdict(profile)}, "targets": targets}
        lines.append(json.dumps(body))
    path = folder / f"{'one' if targets else 'all'}.txt"
    path.write_text("\n".join(lines) + "\n")
    script = path.with_suffix(".lua")
    script.write_text(_SCRIPT.replace("BODIES", str(path)))
    return script


@contextmanager
def serving(workers: int, folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Start a service without limits of requests; give its address and its process."""
    words = [*PROFET, "serve", "--port", "0", "--workers", str(workers), "--key-rate", "0", "--address-rate", "0"]
    log = folder / "log.jsonl"
    with log.open("w") as stream, subprocess.Popen([*words, "--log", "all"], stderr=stream) as process:
        address = None
        while address is None:
            if process.poll() is not None:
                raise SystemExit(f"profet serve did not start: {log.read_text()}")
            time.sleep(0.05)
            address = re.search(r"http://\S+:\d+", log.read_text())
        urlopen(f"{address[0]}/api/v1/health").read()
        yield address[0], psutil.Process(process.pid)
        process.send_signal(signal.SIGTERM)


def key() -> str:
    """Make a key that reads; return its text."""
    return subprocess.run([*PROFET, "keys", "create", "load"], capture_output=True, text=True, check=True).stdout


class Load:
    """What wrk counted: requests a second, and latencies in ms."""

    def __init__(self, address: str, script: Path, connections: int, seconds: float, key_text: str = ""):
        words = ["wrk", "-t1", f"-c{connections}", f"-d{seconds:g}s", "-s", str(script)]
        words += ["-H", f"Authorization: Bearer {key_text.strip()}"] if key_text else []
        run = subprocess.run([*words, f"{address}/api/v1/predictions"], capture_output=True, text=True, check=True)
        found = re.search(r"RESULT (\d+) (\d+) (\d+) (\d+) (\d+)", run.stdout)
        if found is None or int(found[3]) > 0:
            raise SystemExit(f"requests failed: {run.stdout}")
        self.requests, microseconds, _, median_us, p99_us = map(int, found.groups())
        self.per_second = self.requests / microseconds * 1e6
        self.median_ms, self.p99_ms = median_us / 1e3, p99_us / 1e3


def memory_mib(process: psutil.Process) -> float:
    """Return the memory of a process and of those that it started."""
    return sum(float(each.memory_info().rss) for each in (process, *process.children(recursive=True))) / MIB


def processor_seconds(process: psutil.Process) -> float:
    """Return the processor time that a process and those that it started have used."""
    return sum(sum(each.cpu_times()[:2]) for each in (process, *process.children(recursive=True)))


def throughput(one: Path, every: Path, folder: Path) -> list[Figure]:
    """Measure one connection on one process, and as many as wanted on a process a core."""
    figures = []
    with serving(1, folder) as (address, _):
        Load(address, one, 1, 2)
        load = Load(address, one, 1, SECONDS)
        figures.append(Figure("one target, one process, one at a time: median", load.median_ms, "ms", "under 5"))
    with serving(CORES, folder) as (address, process):
        loads = (
            ("one target", one, "", "over 1000"),
            ("one target, with a key", one, key(), ""),
            ("every target", every, "", "over 300"),
        )
        for name, script, key_text, goal in loads:
            Load(address, script, CONNECTIONS, 2, key_text)
            used = processor_seconds(process)
            load = Load(address, script, CONNECTIONS, SECONDS, key_text)
            busy_ms = 1e3 * (processor_seconds(process) - used) / load.requests
            figures.append(
                Figure(f"{name}, {CORES} processes, {CONNECTIONS} at a time", load.per_second, "/s", goal)
            )
            figures.append(Figure(f"{name}, processor time a request", busy_ms, "ms", ""))
            figures.append(Figure(f"{name}, 99 of 100 requests within", load.p99_ms, "ms", "under 50"))
    return figures


def memory(script: Path, requests: int, folder: Path) -> list[Figure]:
    """Measure by how much the memory grows over many requests, once it is warm."""
    with serving(CORES, folder) as (address, process):
        answered = 0
        while answered < WARM_REQUESTS:
            answered += Load(address, script, CONNECTIONS, 5).requests
        before = memory_mib(process)
        answered = 0
        while answered < requests:
            answered += Load(address, script, CONNECTIONS, 20).requests
        grown = 100 * (memory_mib(process) / before - 1)
    return [
        Figure(f"memory of {CORES} processes", before, "MiB", ""),
        Figure(f"grown over {answered} requests", grown, "%", "under 5"),
    ]


def published_path(dataset: Path, folder: Path) -> list[Figure]:
    """Time what the original does at each request: load three models, predict one target."""
    path = folder / "published.profet"
    command("train", dataset, "--method", "published", "--no-measure", "-o", path)
    profile = profet.example_profile()

    def answer() -> None:
        profet.predict(profile, Bundle.load(path), targets=[TARGET])

    return [Figure("published path: load three models, predict", 1e3 * median_seconds(answer), "ms", "")]


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--requests", type=int, default=100_000, help="for the memory")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is not installed; apt-get install wrk")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["PROFET_DATA_DIR"] = name
        one, every = bodies([TARGET], folder), bodies([], folder)
        figures = throughput(one, every, folder)
        figures += published_path(arguments.dataset, folder)
        figures += memory(one, arguments.requests, folder)
    if arguments.json:
        print(json.dumps([asdict(figure) for figure in figures], indent=1))
        return
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}")
    for figure in figures:
        print(f"{figure.name:50} {figure.value:9.2f} {figure.unit:4} {figure.goal}")


if __name__ == "__main__":
    main()
