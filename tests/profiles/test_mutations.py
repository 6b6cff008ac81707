"""Thousands of damaged files of every format: each is refused in a line or read, quickly and in little memory."""

import gzip
import random
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from profet.errors import InputError
from profet.profiles.formats import ReadOptions, read_file
from tests.conftest import DATA
from tests.profiles.chrome_files import training
from tests.profiles.nsight_files import training as nsight_training
from tests.profiles.xplane_files import jax_on_gpu, tensorflow_on_gpus

MUTANTS = 600
SLOWEST_S = 10.0
GIB = 1024**3

_WORDS = [
    b"NaN",
    b"null",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b'"',
    b"\\",
    b"-1",
    b"1e999",
    b"9" * 30,
    b"\0",
    b"\xff",
    b"ph",
]


def flipped(content: bytearray, chance: random.Random) -> None:
    for _ in range(chance.randint(1, 8)):
        content[chance.randrange(len(content))] = chance.randrange(256)


def cut(content: bytearray, chance: random.Random) -> None:
    del content[chance.randrange(len(content)) :]


def without_a_piece(content: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(content))
    del content[start : start + chance.randint(1, 2000)]


def with_a_piece_twice(content: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(content))
    piece = content[start : start + chance.randint(1, 2000)]
    place = chance.randrange(len(content))
    content[place:place] = piece


def with_a_word(content: bytearray, chance: random.Random) -> None:
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(content))
        content[place : place + chance.randint(0, 6)] = chance.choice(_WORDS)


MUTATIONS: list[Callable[[bytearray, random.Random], None]] = [
    flipped,
    cut,
    without_a_piece,
    with_a_piece_twice,
    with_a_word,
]


def public_trace() -> bytes:
    """Return the beginning of the public trace, with some of its kernels behind it."""
    path = DATA / "traces" / "resnet50_v100.pt.trace.json.gz"
    if not path.is_file():
        pytest.skip(f"the public trace is not at {path}; set PROFET_TEST_DATA to where the public data is")
    content = gzip.decompress(path.read_bytes())
    kernels = content.rindex(b"{", 0, content.index(b'"cat": "Memcpy"'))
    return content[: content.rindex(b"{", 0, 250_000)] + content[kernels : kernels + 150_000]


def public_hardware_metrics() -> bytes:
    path = DATA / "hardware-metrics" / "nvidiasmi_devicequery.csv"
    if not path.is_file():
        pytest.skip(
            f"the public hardware metrics are not at {path}; set PROFET_TEST_DATA to where the public data is"
        )
    return b"\n".join(path.read_bytes().splitlines()[:2])


def nsight(folder: Path) -> bytes:
    path = folder / "whole.sqlite"
    nsight_training(steps=4).write(path)
    return path.read_bytes()


FILES: dict[str, Callable[[Path], bytes]] = {
    "public trace": lambda _: public_trace(),
    "new trace": lambda _: training("new", steps=4, gpus=(0, 1)).text().encode(),
    "compressed trace": lambda _: gzip.compress(training("old", steps=4).text().encode()),
    "xplane of TensorFlow": lambda _: tensorflow_on_gpus(2),
    "xplane of JAX": lambda _: jax_on_gpu(),
    "Nsight export": nsight,
    "hardware metrics": lambda _: public_hardware_metrics(),
    "op stats": lambda _: (
        b"Host/device,Type,Operation,#Occurrences,Total time (us)\n" + b"Device,Conv2D,a,2,4.5\n" * 40
    ),
    "PROFET JSON": lambda _: b'[{"Device_Conv2D": 4.0, "Host_IDLE": 3.5, "Device_IDLE": 1e3}]',
}


def forget_peak() -> int:
    """Begin to measure the peak of memory anew, where the system can; return what it is: other tests ran before."""
    if sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()


def peak_bytes() -> int:
    if sys.platform == "linux":
        lines = Path("/proc/self/status").read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_refused_in_a_line_or_read(tmp_path: Path, name: str) -> None:
    whole = FILES[name](tmp_path)
    path = tmp_path / "damaged"
    chance = random.Random(name)
    options = ReadOptions(steps=2)
    outcomes = {"read": 0, "refused": 0}
    held = forget_peak()
    path.write_bytes(whole)
    assert read_file(path, options if name in {"op stats", "PROFET JSON", "public trace"} else None).profile
    for _ in range(MUTANTS):
        content = bytearray(whole)
        chance.choice(MUTATIONS)(content, chance)
        path.write_bytes(content)
        start = time.monotonic()
        try:
            profile = read_file(path, chance.choice([None, options])).profile
        except InputError as error:
            assert str(error).startswith(f"{path}: "), error  # noqa: PT017 - any other error must fail the test
            assert "\n" not in str(error), error  # noqa: PT017
            outcomes["refused"] += 1
        else:
            assert profile.device_us or profile.hardware
            profile.to_json()
            outcomes["read"] += 1
        assert time.monotonic() - start < SLOWEST_S
    assert min(outcomes.values()) > 0, outcomes
    assert peak_bytes() - held < GIB
