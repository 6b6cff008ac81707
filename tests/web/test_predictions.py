"""Predictions over HTTP: the same answers as the command line, for profiles in every format and way of sending."""

import gzip
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import Run, document
from tests.web.conftest import problem

SMALL = {"schema": "profet/profile/1", "instance": "g3s.xlarge", "device_us": {"Conv2D": 2000.0}, "steps": 1}


def test_a_prediction_is_what_the_command_prints(
    api: httpx.Client, example: dict[str, Any], profet: Run, tmp_path: Path
) -> None:
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(example))
    printed = document(profet("predict", path, "--target", "p3.2xlarge", "--interval", "0.8", "--json"))
    sent = {"profile": example, "targets": ["p3.2xlarge"], "interval": 0.8}
    assert api.post("/predictions", json=sent).json() == printed
    fields = {"targets": "p3.2xlarge", "interval": "0.8"}
    uploaded = api.post("/predictions", data=fields, files={"profile": path.read_bytes()})
    assert uploaded.json() == printed


def test_every_target_is_answered_where_none_is_named(api: httpx.Client, example: dict[str, Any]) -> None:
    answer = api.post("/predictions", json={"profile": example}).json()
    assert [each["target"] for each in answer["predictions"]] == [
        "g4dn.xlarge",
        "g5.xlarge",
        "p2.xlarge",
        "p3.2xlarge",
    ]
    assert all(each["low_ms"] < each["latency_ms"] < each["high_ms"] for each in answer["predictions"])


def test_another_size_is_what_the_command_prints(
    api: httpx.Client, example: dict[str, Any], profet: Run, tmp_path: Path
) -> None:
    path = tmp_path / "profile.json"
    path.write_text(json.dumps({**example, "batch_size": None, "pixels": None}))
    asked = ("--batch-size", "64", "--pixels", "128", "--profiled-batch-size", "16", "--profiled-pixels", "224")
    printed = document(profet("predict", path, *asked, "--json"))
    fields = {"batch_size": 64, "pixels": 128, "profiled_batch_size": 16, "profiled_pixels": 224}
    sent = {"profile": json.loads(path.read_text()), **fields}
    assert api.post("/predictions", json=sent).json() == printed
    assert api.post("/predictions", json={"profile": example, "batch_size": 64, "pixels": 128}).json() == printed


def test_an_instance_that_no_bundle_knows_is_extrapolated_and_marked(
    api: httpx.Client, example: dict[str, Any]
) -> None:
    answer = api.post("/predictions", json={"profile": example, "targets": ["g6.xlarge"]}).json()
    (told,) = answer["predictions"]
    assert told["basis"] == "extrapolated"
    assert told["low_ms"] < told["latency_ms"] < told["high_ms"]
    assert any("never measured" in text for text in answer["warnings"])
    told = api.post("/predictions", json={"profile": example, "targets": ["g6e.xlarge"]}).json()["detail"]
    assert "profet instances add g6e.xlarge --force --fp32-tflops N" in told  # a command, as it is to be typed


@pytest.mark.parametrize("compressed", [False, True])
def test_a_trace_is_read_as_the_command_reads_it(
    api: httpx.Client, profet: Run, tmp_path: Path, compressed: bool
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(_trace()))
    asked = ("--anchor", "g4dn.xlarge", "--anchor-latency", "10ms", "--target", "p3.2xlarge")
    printed = document(profet("predict", path, *asked, "--json"))
    fields = {"anchor": "g4dn.xlarge", "anchor_latency": "10ms", "targets": ["p3.2xlarge"]}
    content = gzip.compress(path.read_bytes()) if compressed else path.read_bytes()
    assert api.post("/predictions", data=fields, files={"profile": ("t.json", content)}).json() == printed
    assert api.post("/predictions", json={"profile": _trace(), **fields}).json() == printed


def test_a_large_profile_is_answered_like_a_small_one(api: httpx.Client, example: dict[str, Any]) -> None:
    whole = api.post("/predictions", json={"profile": example}).json()
    host_us = {**example["host_us"], **{f"nothing {number}": 0.0 for number in range(8000)}}
    padded = api.post("/predictions", json={"profile": {**example, "host_us": host_us}}).json()
    assert padded["predictions"] == whole["predictions"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"anchor": "g3s.xlrge"}, ("anchor 'g3s.xlrge'", "nearest: g3s.xlarge")),
        ({"targets": ["p3.2xlrge"]}, ("p3.2xlrge", "nearest: p3.2xlarge")),
        ({"anchor_latency": "323 miles"}, ("anchor_latency", "write it as 323ms")),
        ({"interval": 90}, ("interval", "< 1")),
        ({"interval": "x"}, ("interval", "float")),
        ({"batch_size": 0}, ("batch_size", ">= 1")),
        ({"batch_size": 100_000}, ("reaches up to 64 times",)),
        ({"profile": {**SMALL, "pixels": 64}, "batch_size": 8}, ("give profiled_batch_size",)),
        ({"stepz": 3}, ("unknown field 'stepz'",)),
        ({"steps": 0}, ("steps 0", "must be from 1")),
        ({"profile": {"schema": "profet/profile/9"}}, ("profile", "another version")),
        ({"profile": {"a": 1}}, ("profile", "no PyTorch trace")),
        ({"profile": 3}, ("profile",)),
        ({"profile": None}, ("profile",)),
    ],
)
def test_a_mistake_is_told_so_that_it_can_be_mended(
    api: httpx.Client, example: dict[str, Any], changed: dict[str, Any], words: tuple[str, ...]
) -> None:
    detail = problem(api.post("/predictions", json={"profile": example, **changed}), 422, *words)
    assert "--" not in detail


def test_a_profile_is_missing(api: httpx.Client) -> None:
    problem(api.post("/predictions", json={}), 422, "profile", "is missing")
    problem(api.post("/predictions", data={"anchor": "p3.2xlarge"}), 422, "profile", "is missing")


def test_a_file_in_another_field_is_refused(api: httpx.Client) -> None:
    problem(api.post("/predictions", files={"anchor": b"x"}), 422, "anchor", "'profile'")


def test_a_compressed_body_is_refused_where_a_compressed_file_is_not(
    api: httpx.Client, example: dict[str, Any]
) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    content = gzip.compress(json.dumps({"profile": example}).encode())
    problem(api.post("/predictions", content=content, headers=headers), 415, "Content-Encoding", "file in a form")


def test_what_is_neither_json_nor_a_form_is_refused(api: httpx.Client) -> None:
    problem(api.post("/predictions", content=b"<a/>", headers={"Content-Type": "text/xml"}), 415, "text/xml")


def _trace() -> dict[str, Any]:
    """A PyTorch trace of three steps of 10 ms, with one convolution in each."""
    events: list[dict[str, Any]] = []
    for step in range(3):
        start = 10_000 * step
        common = {"ph": "X", "pid": 1, "tid": 1}
        launch = {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "args": {"correlation": step + 1}}
        events += [
            {**common, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": start, "dur": 9_900},
            {**common, "cat": "cpu_op", "name": "aten::conv2d", "ts": start + 100, "dur": 200},
            {**common, **launch, "ts": start + 150, "dur": 20},
            {
                "ph": "X",
                "cat": "kernel",
                "name": "implicit_convolve_sgemm",
                "pid": 0,
                "tid": 7,
                "ts": start + 400,
                "dur": 9_000,
                "args": {"correlation": step + 1, "device": 0, "stream": 7},
            },
        ]
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "T4"}], "traceEvents": events}
