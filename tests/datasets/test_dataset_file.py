"""The file of a data set: it comes back as it was, and no other file is taken for one."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from profet.datasets.dataset import Dataset
from profet.errors import InputError, OutputError


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        Dataset.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    return str(caught.value)


def rewritten(source: Path, target: Path, metadata: object = None, **columns: Any) -> Path:
    """Write the data set in source again, with other metadata or columns."""
    table = pq.read_table(source)
    frame = table.to_pandas().assign(**columns)
    kept = table.schema.metadata if metadata is None else {b"profet": json.dumps(metadata).encode()}
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(kept), target)
    return target


def test_a_data_set_comes_back_from_its_file_as_it_was(small_dataset: Dataset, small_dataset_path: Path) -> None:
    loaded = Dataset.load(small_dataset_path)
    columns = [name for name in small_dataset.runs if name in loaded.runs]
    assert sorted(columns) == sorted(small_dataset.runs)
    pd.testing.assert_frame_equal(loaded.runs[columns], small_dataset.runs[columns], check_dtype=False)
    pd.testing.assert_frame_equal(loaded.host_us, small_dataset.host_us)
    pd.testing.assert_frame_equal(loaded.device_us, small_dataset.device_us)
    assert loaded.sources == small_dataset.sources
    assert loaded.fingerprint == small_dataset.fingerprint


def test_the_public_data_come_back_with_their_fingerprint(public_dataset: Dataset, tmp_path: Path) -> None:
    public_dataset.save(tmp_path / "public.dataset")
    loaded = Dataset.load(tmp_path / "public.dataset")
    assert loaded.fingerprint == public_dataset.fingerprint
    assert loaded.anchors == public_dataset.anchors


def test_an_existing_file_is_kept_unless_forced(small_dataset: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "x.dataset"
    path.write_text("mine")
    with pytest.raises(OutputError, match="use --force"):
        small_dataset.save(path)
    assert path.read_text() == "mine"
    small_dataset.save(path, force=True)
    assert len(Dataset.load(path)) == len(small_dataset)


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"PAR1", b"PAR1" + bytes(100) + b"PAR1", b"\x80\x04N."])
def test_what_is_no_parquet_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.dataset"
    path.write_bytes(content)
    assert "not a data set" in refusal(path)


@pytest.mark.parametrize("share", [0.01, 0.5, 0.9, 0.999])
def test_a_file_cut_short_is_refused(small_dataset_path: Path, tmp_path: Path, share: float) -> None:
    content = small_dataset_path.read_bytes()
    path = tmp_path / "x.dataset"
    path.write_bytes(content[: int(share * len(content))])
    assert "not a data set" in refusal(path)


def test_damage_in_the_middle_is_refused_or_harmless(small_dataset_path: Path, tmp_path: Path) -> None:
    content = small_dataset_path.read_bytes()
    path = tmp_path / "x.dataset"
    refused = 0
    for place in range(4, len(content), max(1, len(content) // 60)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        try:
            Dataset.load(path)
        except InputError as error:
            assert str(error).startswith(f"{path}: ")  # noqa: PT017 - any other error must fail the test
            refused += 1
    assert refused > 0


def test_parquet_of_another_kind_is_refused(tmp_path: Path) -> None:
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "other.parquet")
    assert "its schema is None" in refusal(tmp_path / "other.parquet")


@pytest.mark.parametrize("metadata", [{"schema": "profet/dataset/2"}, {"schema": 1}, {"schema": None}, {}])
def test_a_newer_schema_is_refused_naming_both(small_dataset_path: Path, tmp_path: Path, metadata: object) -> None:
    line = refusal(rewritten(small_dataset_path, tmp_path / "x.dataset", metadata))
    assert "not 'profet/dataset/1'" in line


@pytest.mark.parametrize("metadata", [[], 3, "profet/dataset/1", {"schema": "profet/dataset/1", "sources": None}])
def test_metadata_of_another_shape_are_refused(small_dataset_path: Path, tmp_path: Path, metadata: object) -> None:
    refusal(rewritten(small_dataset_path, tmp_path / "x.dataset", metadata))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"pixels": "large"}, "damaged"),
        ({"pixels": 0}, "pixels below 1"),
        ({"pixels": np.nan}, "pixels"),
        ({"batch_size": -1}, "batch_size below 1"),
        ({"step_latency_ms": 0.0}, "step latency of 0 ms"),
        ({"step_latency_ms": np.inf}, "step latency of inf ms"),
        ({"step_latency_ms": "fast"}, "damaged"),
        ({"device_us:Conv2D": "fast"}, "damaged"),
        ({"device_us:Conv2D": -1.0}, "negative"),
        ({"host_us:IDLE": np.inf}, "infinite"),
        ({"steps": "two"}, "steps"),
        ({"instance": 7}, "instance"),
    ],
)
def test_values_that_no_run_can_have_are_refused(
    small_dataset_path: Path, tmp_path: Path, columns: dict[str, Any], said: str
) -> None:
    assert said in refusal(rewritten(small_dataset_path, tmp_path / "x.dataset", **columns))
