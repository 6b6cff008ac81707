"""``profet scale``: the ends come back, sizes between lie between, and nothing is made up silently."""

from typing import Any

import pytest

from tests.conftest import Run, document, refused

USUAL = {"--instance": "g3s.xlarge", "--axis": "batch", "--min": "10ms", "--max": "100ms", "--at": 128}


def scale(profet: Run, **changes: object) -> Any:
    options = {**USUAL, **{f"--{name}": value for name, value in changes.items()}}
    return profet("scale", *(part for option in options.items() for part in option), "--json")


def test_size_between_lies_between_the_ends(profet: Run) -> None:
    told = document(scale(profet))
    assert told["warnings"] == []
    assert 10 < told["latency_ms"] < 100
    assert told["latency_ms"] == pytest.approx(10 + 90 * (128 - 16) / (256 - 16), rel=0.1)


@pytest.mark.parametrize(
    ("instance", "axis", "at"),
    [("p3.2xlarge", "pixels", 33), ("p2.xlarge", "batch", 16.1), ("g3s.xlarge", "batch", 255)],
)
def test_no_latency_lies_beyond_the_measured_ends(profet: Run, instance: str, axis: str, at: float) -> None:
    told = document(scale(profet, instance=instance, axis=axis, min="1ms", max="1000ms", at=at))
    assert 1 <= told["latency_ms"] <= 1000


def test_text_says_the_same_as_json(profet: Run) -> None:
    line = profet("scale", *(part for option in USUAL.items() for part in option))
    assert line.stdout == f"{document(scale(profet))['latency_ms']:.2f} ms a step on g3s.xlarge at batch 128\n"
    assert line.stderr == ""


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"at": 16}, 10.0),
        ({"at": 256}, 100.0),
        ({"at": 32, "axis": "pixels"}, 10.0),
        ({"at": 256, "axis": "pixels"}, 100.0),
        ({"at": 48, "range": "48:96"}, 10.0),
        ({"at": 96, "range": "48:96"}, 100.0),
        ({"at": 64, "min": "7ms", "max": "7ms"}, 7.0),
    ],
)
def test_measured_ends_come_back_exactly(profet: Run, changes: dict[str, object], expected: float) -> None:
    assert document(scale(profet, **changes)) == {"latency_ms": expected, "warnings": []}


def test_units_of_the_ends_do_not_matter(profet: Run) -> None:
    told, usual = document(scale(profet, min="10000us", max="0.1s")), document(scale(profet))
    assert told["latency_ms"] == pytest.approx(usual["latency_ms"])


def test_range_within_the_measured_sizes_takes_its_piece_of_the_curve(profet: Run) -> None:
    whole = {size: document(scale(profet, at=size))["latency_ms"] for size in (32, 64, 128)}
    piece = document(scale(profet, at=64, range="32:128", min=f"{whole[32]}ms", max=f"{whole[128]}ms"))
    assert piece["latency_ms"] == pytest.approx(whole[64])
    assert piece["warnings"] == []


def test_range_beyond_the_measured_sizes_warns(profet: Run) -> None:
    told = document(scale(profet, at=300, range="16:512"))
    assert 10 < told["latency_ms"] < 100
    assert len(told["warnings"]) == 1
    assert "16:512" in told["warnings"][0]
    assert "not measured" in told["warnings"][0]


def test_unknown_instance_uses_the_pooled_curve_and_says_so(profet: Run) -> None:
    told = document(scale(profet, instance="p3.xlarge"))
    known = document(scale(profet, instance="p3.2xlarge"))
    assert 10 < told["latency_ms"] < 100
    assert told["latency_ms"] != known["latency_ms"]
    assert len(told["warnings"]) == 1
    assert all(word in told["warnings"][0] for word in ("'p3.xlarge'", "p3.2xlarge", "pooled"))
    assert known["warnings"] == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"at": 8}, ["--at 8", "16:256", "--range"]),
        ({"at": 257}, ["--at 257", "16:256"]),
        ({"at": "nan"}, ["--at"]),
        ({"at": "-inf"}, ["--at"]),
        ({"at": "many"}, ["--at", "many"]),
        ({"at": 300, "range": "16:128"}, ["--at 300", "16:128"]),
        ({"min": "101ms"}, ["--max", "--min", "size 16"]),
        ({"min": "0ms"}, ["--min"]),
        ({"max": "fast"}, ["--max", "fast"]),
        ({"range": "256:16"}, ["--range", "256:16"]),
        ({"range": "128:128"}, ["--range"]),
        ({"range": "0:128"}, ["--range"]),
        ({"range": "16"}, ["--range"]),
        ({"range": ""}, ["--range"]),
        ({"axis": "depth"}, ["--axis", "depth", "batch", "pixels"]),
    ],
)
def test_what_cannot_be_scaled_is_refused(profet: Run, changes: dict[str, object], words: list[str]) -> None:
    refused(scale(profet, **changes), *words)
