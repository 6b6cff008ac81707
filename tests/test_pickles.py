"""Pickles read as data: whatever one holds, nothing it names runs, and every failure is an InputError."""

import contextlib
import os
import pickle
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from profet.errors import InputError
from profet.pickles import NUMPY, InertArray, load_inert


class Call:
    """Pickled as the call of a function with text."""

    def __init__(self, function: object, argument: str):
        self.parts = (function, (argument,))

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return self.parts


def real_pickle(protocol: int = 4) -> bytes:
    content = [
        np.arange(3),
        np.array([1.5, 2.5]),
        np.float64(0.25),
        [0.1, 0.2],
        np.array(["a", None], dtype=object),
    ]
    return pickle.dumps(content, protocol=protocol)


@pytest.mark.parametrize("protocol", range(6))
def test_arrays_numbers_and_plain_data_are_rebuilt(protocol: int) -> None:
    numbers, reals, scalar, plain, objects = load_inert(real_pickle(protocol), NUMPY, "x.pickle")
    assert numbers.to_numpy().tolist() == [0, 1, 2]
    assert reals.to_numpy().tolist() == [1.5, 2.5]
    assert scalar == 0.25
    assert plain == [0.1, 0.2]
    assert objects.to_numpy().tolist() == ["a", None]


@pytest.mark.parametrize("dtype", ["<i2", ">i4", "<f4", ">f8", "bool", "uint64"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_keep_their_type_and_order(dtype: str, order: str) -> None:
    array = np.asarray(np.arange(6).reshape(2, 3), dtype=dtype, order=order)  # type: ignore[call-overload]
    loaded = load_inert(pickle.dumps(array), NUMPY, "x.pickle").to_numpy()
    assert loaded.dtype == array.dtype
    assert np.array_equal(loaded, array)


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("function", [os.system, eval, exec, __import__, open, getattr], ids=lambda f: f.__name__)
def test_a_pickle_that_names_a_function_is_refused_by_name_and_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: object, protocol: int
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "touch made" if function is os.system else "__import__('pathlib').Path('made').touch()"
    content = pickle.dumps([1.0, Call(function, text)], protocol=protocol)
    with pytest.raises(InputError, match=r"x\.pickle: names \S+, which no such file needs; .*nothing was executed"):
        load_inert(content, NUMPY, "x.pickle")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "content",
    [
        b"cos\nsystem\n(S'touch made'\ntR.",
        b"(ios\nsystem\nS'touch made'\n.",
        b"(cos\nsystem\nS'touch made'\no.",
        b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\ntouch made\x85R.",
        b"\x80\x04\x8c\x0enumpy._globals\x8c\x0a__import__\x93.",
        b"\x80\x04\x8c\x05numpy\x8c\x10ndarray.__init__\x93.",
    ],
    ids=["global", "inst", "obj", "stack global", "submodule", "dotted"],
)
def test_every_way_to_name_something_is_guarded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="nothing was executed"):
        load_inert(content, NUMPY, "x.pickle")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"Pthing\n.", b"\x80\x02K\x01Q."])
def test_objects_kept_elsewhere_are_refused(content: bytes) -> None:
    with pytest.raises(InputError, match="refers to objects outside itself"):
        load_inert(content, NUMPY, "x.pickle")


@pytest.mark.parametrize(
    "content",
    [b"\x80\x02\x82\x01.", b"\x80\x02\x83\x01\x01.", b"\x80\x02\x84\x01\x01\x01\x01.", b"\x80\x05\x97."],
    ids=["ext1", "ext2", "ext4", "next buffer"],
)
def test_what_only_an_unusual_pickler_writes_is_refused(content: bytes) -> None:
    with pytest.raises(InputError):
        load_inert(content, NUMPY, "x.pickle")


@pytest.mark.parametrize(
    "content",
    [b"\x80\x02N" + b"r\xff\xff\xff\x7f.", b"Np2147483647\n.", b"\x80\x02Nr" + struct.pack("<I", 10**7) + b"."],
)
def test_a_high_number_of_an_object_reserves_no_memory(content: bytes) -> None:
    command = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31));"
    command += "from profet.pickles import NUMPY, load_inert; print(load_inert(eval(sys.argv[1]), NUMPY, 'x'))"
    result = subprocess.run([sys.executable, "-c", command, repr(content)], capture_output=True, text=True)
    assert result.stdout == "None\n", result.stderr


def test_a_key_whose_hash_would_never_end_is_refused() -> None:
    nested = b"\x80\x02})" + b"q\x00h\x00\x86" * 60 + b"Ns."
    with pytest.raises(InputError, match="other things than plain values"):
        load_inert(nested, NUMPY, "x.pickle")


def test_a_pickle_that_unpacks_to_far_more_than_its_size_is_refused() -> None:
    text = b"c_codecs\nencode\nq\x000X\x10\x27\x00\x00" + b"a" * 10_000 + b"q\x010(l"
    content = b"\x80\x02" + text + b"h\x00h\x01\x85Ra" * 1000 + b"."
    with pytest.raises(InputError, match="far more than its size"):
        load_inert(content, NUMPY, "x.pickle")


@pytest.mark.parametrize(
    "content",
    [
        b"Np-1\n.",
        b"\x80\x05\x96" + struct.pack("<Q", 1 << 40) + b".",
        b"\x80\x04\x8e" + struct.pack("<Q", 1 << 62) + b".",
        b"\x80\x02\x8b" + struct.pack("<i", 0x7FFFFFFF) + b".",
    ],
    ids=["negative memo", "bytearray8", "binbytes8", "long4"],
)
def test_a_pickle_that_claims_more_than_it_holds_is_refused(content: bytes) -> None:
    with pytest.raises(InputError, match=r"^x\.pickle: "):
        load_inert(content, NUMPY, "x.pickle")


@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
def test_a_pickle_cut_anywhere_is_refused(protocol: int) -> None:
    content = real_pickle(protocol)
    for length in range(0, len(content), 3):
        with pytest.raises(InputError):
            load_inert(content[:length], NUMPY, "x.pickle")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b'[{"Device_A": 1.0}]', b"\x89PNG\r\n", b"."])
def test_what_is_no_pickle_is_refused(content: bytes) -> None:
    with pytest.raises(InputError, match=r"^x\.pickle: "):
        load_inert(content, NUMPY, "x.pickle")


def test_an_array_whose_shape_is_nested_without_end_is_no_array() -> None:
    shape = b")" + b"\x85" * 100_000
    content = b"\x80\x02cnumpy\nndarray\n)\x81(K\x01" + shape + b"cnumpy\ndtype\nX\x02\0\0\0f8\x85RNU\0tb."
    array = load_inert(content, NUMPY, "x.pickle")
    with pytest.raises(ValueError, match="shape"):
        array.to_numpy()


@pytest.mark.parametrize(("module", "name"), sorted(NUMPY))
def test_a_pickle_cannot_change_how_later_ones_are_read(module: str, name: str) -> None:
    content = f"c{module}\n{name}\n(N}}S'marker'\n)stb.".encode()
    with contextlib.suppress(InputError):
        load_inert(content, NUMPY, "x.pickle")
    assert not hasattr(NUMPY[module, name], "marker")


def read(content: bytes) -> None:
    try:
        for item in list(load_inert(content, NUMPY, "x.pickle")):
            if isinstance(item, InertArray):
                item.to_numpy()
    except (TypeError, ValueError):  # what was loaded is no sequence of whole arrays, as callers expect to find
        return
    except InputError as error:
        assert str(error).startswith("x.pickle: ")  # noqa: PT017 - anything else than these must fail the test


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
@example(b"\x80\x02N.")
def test_random_bytes_are_refused_or_read_as_data(content: bytes) -> None:
    read(content)


@settings(max_examples=200, deadline=None)
@given(data=st.data(), protocol=st.sampled_from([0, 2, 4, 5]))
def test_a_damaged_pickle_is_refused_or_read_as_data(data: st.DataObject, protocol: int) -> None:
    content = bytearray(real_pickle(protocol))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    read(bytes(content))
