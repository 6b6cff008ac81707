"""XSpace files that are damaged, cut short or hostile: a trace or one clear line, in little memory."""

import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.errors import InputError
from profet.profiles.formats.recognition import looks_like_xplane
from profet.profiles.formats.xplane import reader as xplane
from profet.profiles.traces.trace import Trace
from tests.profiles.xplane_files import PlaneMaker, field_of, jax_on_gpu, space, tensorflow_on_gpus, varint

WHOLE = [tensorflow_on_gpus(steps=2), jax_on_gpu()]


def read_or_refusal(content: bytes) -> Trace | str:
    """What comes of a file; an error must be one line that says where, and what to do."""
    try:
        trace = xplane.read(content, "x.pb")
    except InputError as error:
        text = str(error)
        assert text.startswith("x.pb: ")
        assert "record" in text
        assert text.isprintable()
        return text
    check(trace)
    return trace


def check(trace: Trace) -> None:
    """A trace must be what its columns promise."""
    for events in (trace.host, trace.device):
        assert (events.end_us >= events.start_us).all()
        assert np.isfinite(events.start_us).all()
        assert ((events.name >= 0) & (events.name < len(trace.names))).all()
    assert (trace.device.operation < len(trace.names)).all()
    assert all(step.end_us >= step.start_us for step in trace.steps)
    assert len(trace.device) or trace.host.is_operation.any()


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    looks_like_xplane(content)
    read_or_refusal(content)
    read_or_refusal(field_of(1, b"\x12\x09/host:CPU" + content))


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(WHOLE), st.data())
def test_damaged_files_are_read_or_refused(content: bytes, data: st.DataObject) -> None:
    place = st.integers(0, len(content) - 1)
    damaged = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        start, length = data.draw(place), data.draw(st.integers(0, 40))
        damaged[start : start + length] = data.draw(
            st.one_of(st.binary(max_size=12), st.just(content[data.draw(place) :][:length]))
        )
    read_or_refusal(bytes(damaged[: data.draw(st.integers(0, len(damaged)))] or damaged))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "metadata_id": st.integers(0, 3) | st.integers(-(2**63), 2**63 - 1),
                "offset_ps": st.integers(0, 10) | st.integers(-(2**63), 2**63 - 1),
                "duration_ps": st.integers(0, 10) | st.integers(-(2**63), 2**63 - 1),
            }
        ),
        max_size=6,
    ),
    st.integers(-(2**63), 2**63 - 1),
)
def test_any_numbers_are_read_or_refused(events: list[dict[str, int]], timestamp_ns: int) -> None:
    host = PlaneMaker("/host:CPU")
    host.line("first").event("a:MatMul", 0, 1)
    line = host.line("second", timestamp_ns)
    for event in events:
        line.message.events.add(**event)
    read_or_refusal(space(host))


@pytest.mark.parametrize("content", WHOLE)
def test_a_file_cut_short_is_refused_wherever_it_is_cut(content: bytes) -> None:
    for length in range(0, len(content), 97):
        read_or_refusal(content[:length])
    assert "cut short" in str(read_or_refusal(content[: len(content) // 3]))


def event(name: str = "a:MatMul", **values: Any) -> bytes:
    """A file with an operation and one event more, whose fields are set."""
    host = PlaneMaker("/host:CPU")
    line = host.line("thread")
    line.event("b:MatMul", 0, 1)
    more = line.event(name, 1, 1)
    for field, value in values.items():
        setattr(more, field, value)
    return space(host)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (event(duration_ps=-5), "lasts -5 ps"),
        (event(duration_ps=2**63 - 1), "lasts 9223372036854775807 ps"),
        (event(offset_ps=-(2**62)), "starts at -4611686018427387904 ps"),
        (b"", "holds no planes"),
        (b"\x0b" * 100_000, "damaged at byte"),
        (b"PK\x03\x04 something else", "damaged at byte"),
    ],
)
def test_what_no_trace_has_is_named(content: bytes, words: str) -> None:
    assert words in str(read_or_refusal(content))


def test_lines_days_apart_are_refused() -> None:
    host = PlaneMaker("/host:CPU")
    host.line("one").event("a:MatMul", 0, 1)
    host.line("two", timestamp_ns=1_700_000_000_000_000_000).event("a:MatMul", 0, 1)
    assert "'two' of '/host:CPU' starts days from the first one" in str(read_or_refusal(space(host)))


def test_text_that_is_not_utf8_and_numbers_in_place_of_text_are_read() -> None:
    gpu = PlaneMaker("/device:GPU:0", {"gpu_device_name": float("nan")})
    line = gpu.line("Stream #1")
    line.event("kernel", 0, 1, tf_op=float("nan"), correlation_id="seven", hlo_module=3)
    line.event("kernel", 2, 1, tf_op=7, correlation_id=-3)
    content = space(gpu).replace(b"kernel", b"ke\xff\xfeel")
    trace = read_or_refusal(content)
    assert isinstance(trace, Trace)
    assert trace.names[trace.device.name[0]] == "ke\ufffd\ufffdel"
    assert trace.device_names == {}


@pytest.mark.parametrize("kind", ["events", "stats of one event", "lines", "planes", "names", "unknown fields"])
def test_a_few_bytes_an_item_do_not_take_all_memory(kind: str, tmp_path: Path) -> None:
    """A file of 24 MiB in which an item takes two bytes or a few is read or refused within a gigabyte."""
    size = 24 * 2**20
    name = b"\x12\x09/host:CPU"
    if kind == "events":
        content = field_of(1, name + field_of(3, field_of(4, b"") * (size // 2)))
    elif kind == "stats of one event":
        content = field_of(1, name + field_of(3, field_of(4, field_of(4, b"") * (size // 2))))
    elif kind == "lines":
        content = field_of(1, name + field_of(3, b"") * (size // 2))
    elif kind == "planes":
        content = field_of(1, b"") * (size // 2)
    elif kind == "unknown fields":
        content = field_of(1, name + b"\x78\x01" * (size // 4) + field_of(3, b"\x78\x01" * (size // 4)))
    else:
        content = field_of(1, name + b"".join(field_of(4, b"\x08" + varint(n)) for n in range(size // 20)))
    path = tmp_path / "hostile.pb"
    path.write_bytes(content)
    code = (
        "import sys; from pathlib import Path; from profet.profiles.formats.xplane import reader as xplane\n"
        "try: xplane.read(Path(sys.argv[1]).read_bytes(), 'x.pb')\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    limit = 2**30 + 2**29

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        preexec_fn=limited,
        env={"OPENBLAS_NUM_THREADS": "1"},
        timeout=120,
    )
    assert done.stdout.startswith("InputError x.pb: "), done.stdout + done.stderr
