"""Pickled data frames read as columns: what pandas wrote comes back, and nothing else is taken for a frame."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.datasets.pickled_frames import read_frame
from profet.errors import InputError

PROTOCOLS = [2, 3, 4, 5]


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "model": ["VGG16", "합성곱", "", "ResNet50"],
            "note": ["a", None, "c", None],
            "latency": [0.5, np.nan, 2.0, -1.0],
            "batch": [16, 32, 64, 128],
            "ok": [True, False, True, True],
            "mixed": pd.Series([None, 1, "x", 2.5], dtype=object),
            "host": [1.0, 2.0, 3.0, 4.0],
        }
    )


def check_read(written: pd.DataFrame, protocol: int) -> None:
    columns = read_frame(pickle.dumps(written, protocol=protocol), "x.pickle")
    assert list(columns) == list(written)
    for name, values in columns.items():
        assert values.shape == (len(written),), name
        expected = written[name].to_numpy()
        missing = pd.isna(expected)
        assert np.array_equal(pd.isna(values), missing), name
        assert values[~missing].tolist() == expected[~missing].tolist(), name


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_text_numbers_truth_values_and_nothing_come_back(protocol: int) -> None:
    check_read(frame(), protocol)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "change",
    [
        lambda f: f[f["batch"] > 16],
        lambda f: f.iloc[1:3],
        lambda f: f.iloc[::-2],
        lambda f: f.sort_values("model"),
        lambda f: pd.concat([f, f.iloc[:2], f]),
        lambda f: pd.concat([f, f], ignore_index=True).iloc[3:6],
        lambda f: f[["host", "model", "batch"]],
        lambda f: f.assign(more=f["host"] * 2, text=f["model"] + "!"),
        lambda f: f.drop(columns="latency").rename(columns={"host": "Host_IDLE"}),
        lambda f: f.set_index("model"),
        lambda f: f.astype({"batch": "int32", "host": "float32"}),
        lambda f: f.iloc[:0],
        lambda f: f.assign(note=pd.Series([None] * 4, dtype="str")),
    ],
    ids=[
        "filter",
        "slice",
        "reverse",
        "sort",
        "concat",
        "concat slice",
        "select",
        "assign",
        "rename",
        "index",
        "narrow",
        "no rows",
        "no text",
    ],
)
def test_frames_come_back_whatever_was_done_to_them_before(change: object, protocol: int) -> None:
    check_read(change(frame()), protocol)  # type: ignore[operator]


@settings(max_examples=60, deadline=None)
@given(
    columns=st.dictionaries(
        st.text(min_size=1, max_size=6),
        st.sampled_from([st.text(max_size=6), st.text(max_size=6) | st.none(), st.floats(), st.integers(0, 2**40)]),
        min_size=1,
        max_size=5,
    ),
    rows=st.integers(0, 6),
    protocol=st.sampled_from(PROTOCOLS),
    data=st.data(),
)
def test_any_frame_of_text_and_numbers_comes_back(
    columns: dict[str, st.SearchStrategy[object]], rows: int, protocol: int, data: st.DataObject
) -> None:
    drawn = {name: data.draw(st.lists(value, min_size=rows, max_size=rows)) for name, value in columns.items()}
    check_read(pd.DataFrame(drawn), protocol)


def test_the_public_frames_have_their_published_shape(public_profet: Path) -> None:
    for name, columns, rows in (
        ("anchor_data/anchor_g3", 76, 2259),
        ("anchor_data/anchor_g4", 76, 2259),
        ("anchor_data/anchor_p3", 76, 2259),
        ("pre_data/target_preprocessing", 8, 9576),
    ):
        read = read_frame((public_profet / f"{name}.pickle").read_bytes(), name)
        assert len(read) == columns
        assert {column.shape for column in read.values()} == {(rows,)}
        assert set(read["optimizer"]) >= {"SGD"}
        assert (read["batch_latency"] > 0).all()


def refusal(content: bytes) -> str:
    with pytest.raises(InputError, match=r"^x\.pickle: ") as caught:
        read_frame(content, "x.pickle")
    return str(caught.value)


@pytest.mark.parametrize(
    "other", [[1, 2], {"a": 1}, None, 3.5, "text", np.arange(3), slice(1), range(3)], ids=lambda o: type(o).__name__
)
def test_a_pickle_of_something_else_is_refused(other: object) -> None:
    refusal(pickle.dumps(other))


@pytest.mark.parametrize(
    "written",
    [
        pd.Series([1.0]),
        pd.DataFrame({"a": pd.to_datetime(["2021-02-02"])}),
        pd.DataFrame({"a": pd.Categorical(["x"])}),
        pd.DataFrame([[1, 2]]),
        pd.DataFrame(),
        pd.DataFrame({"a": [1]}, index=pd.MultiIndex.from_tuples([("x", 1)])),
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
    ],
    ids=["series", "dates", "categories", "numbered", "empty", "multi-index", "same name twice"],
)
def test_frames_of_kinds_that_are_not_read_are_refused(written: object) -> None:
    refusal(pickle.dumps(written))


@pytest.mark.parametrize(
    ("part", "attribute"),
    [("pyarrow.lib\n_restore_array", "to_list"), ("pandas._libs.internals\n_unpickle_block", "x")],
)
def test_a_frame_cannot_change_how_later_ones_are_read(part: str, attribute: str) -> None:
    attack = f"c{part}\n(N}}S'{attribute}'\ncpyarrow.lib\npy_buffer\nstb.".encode()
    script = (
        "import pickle, contextlib; from profet.datasets import pickled_frames as frames\n"
        "from profet.errors import InputError\n"
        "def parts(): return [sorted(vars(part)) for part in frames._STAND_INS.values() if part != slice]\n"
        f"before = parts()\nwith contextlib.suppress(InputError): frames.read_frame({attack!r}, 'attack')\n"
        f"print(frames.read_frame({pickle.dumps(pd.DataFrame({'a': ['b']}))!r}, 'good')['a'].tolist())\n"
        "print(parts() == before)"
    )  # in a process of its own, so that what it breaks stays there
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert result.stdout == "['b']\nTrue\n", result.stderr


@settings(max_examples=200, deadline=None)
@given(data=st.data(), protocol=st.sampled_from(PROTOCOLS))
def test_a_damaged_frame_is_refused_or_read_as_columns(data: st.DataObject, protocol: int) -> None:
    content = bytearray(pickle.dumps(frame(), protocol=protocol))
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=3))
    try:
        columns = read_frame(bytes(content), "x.pickle")
    except InputError as error:
        assert str(error).startswith("x.pickle: ")  # noqa: PT017 - any other error must fail the test
    else:
        assert len({column.shape for column in columns.values()}) == 1
