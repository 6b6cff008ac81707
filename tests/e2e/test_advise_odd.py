"""``profet advise`` asked for what is odd, hostile or clumsy: one clear line, and nothing lost or half-written."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from profet.profiles.example import example_profile
from tests.conftest import Run, document, refused

Advise = Callable[..., Any]
RUN = ("--samples", "1M", "--epochs", 10)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Where the user's own instances are kept in these tests."""
    return tmp_path / "data" / "instances.json"


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """The shipped example, a copy that may be lost."""
    path = tmp_path / "profile.json"
    path.write_text(example_profile().to_json(), encoding="utf-8")
    return path


@pytest.fixture
def advise(profet: Run, profile: Path, own: Path) -> Advise:
    environment = {**os.environ, "PROFET_DATA_DIR": str(own.parent)}
    return lambda *words, **options: profet("advise", profile, *RUN, *words, env=environment, **options)


def keep_own(own: Path, *instances: dict[str, Any], gpus: tuple[dict[str, Any], ...] = ()) -> None:
    own.parent.mkdir(exist_ok=True)
    content = {"schema": "profet/instances/1", "gpus": gpus, "instances": instances}
    own.write_text(json.dumps(content), encoding="utf-8")


def box(price: float = 0.1, **more: Any) -> dict[str, Any]:
    prices = [{"on_demand_per_hour": price, "source": "own"}]
    plain = {"name": "box", "provider": "own", "gpu": "T4", "gpu_count": 1, "source": "own"}
    return {**plain, "prices": prices, **more}


def test_a_report_never_takes_the_place_of_the_profile_or_the_catalogue(
    advise: Advise, profile: Path, tmp_path: Path
) -> None:
    catalogue = tmp_path / "team.json"
    keep_own(catalogue, box())
    before = profile.read_bytes(), catalogue.read_bytes()
    for path in (profile, catalogue):
        refused(advise("--catalogue", catalogue, "--report", path, "--force"), str(path), "is the input")
    assert (profile.read_bytes(), catalogue.read_bytes()) == before


def test_a_hand_over_that_is_refused_leaves_no_report_behind(advise: Advise, own: Path, tmp_path: Path) -> None:
    keep_own(own, box(0.001))
    words = ("--extrapolate", "--export", "skypilot", "--export-to", tmp_path)
    refused(advise(*words, "--report", tmp_path / "a.html", "--plot", tmp_path / "a.png"), "box", "SkyPilot")
    assert {path.name for path in tmp_path.iterdir()} == {"data", "profile.json"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--export-to", "."), ("--export-to", "say --export skypilot")),
        (("--anchor-latency", "1e300"), ("--anchor-latency", "no step takes")),
        (("--anchor-latency", "1e-300"), ("--anchor-latency", "no step takes")),
        (("--startup", "9" * 300 + "d"), ("--startup", "too long")),
        (("--budget", "1" + "0" * 300), ("--budget", "above zero")),
        (("--validation-share", "nan"), ("--validation-share", "is no number")),
    ],
)
def test_what_cannot_be_meant_is_one_line(advise: Advise, words: tuple[str, ...], told: tuple[str, ...]) -> None:
    refused(advise(*words), *told)


@pytest.mark.parametrize(
    ("instance", "gpus", "told"),
    [
        (box(0.0), (), "on_demand_per_hour"),
        (box(1e-300), (), "on_demand_per_hour"),
        (box(gpu_count=0), (), "gpu_count"),
        (
            box(gpu="G"),
            ({"name": "G", "fp32_tflops": 1e-300, "bandwidth_gb_s": 1.0, "source": "own"},),
            "fp32_tflops",
        ),
    ],
)
def test_a_quantity_that_cannot_be_is_named_with_its_file(
    advise: Advise, own: Path, instance: dict[str, Any], gpus: tuple[dict[str, Any], ...], told: str
) -> None:
    keep_own(own, instance, gpus=gpus)
    before = own.read_bytes()
    refused(advise("--extrapolate", "--json"), str(own), told)
    assert own.read_bytes() == before


def test_the_ends_of_what_can_be_still_give_numbers(advise: Advise, own: Path, tmp_path: Path) -> None:
    slow = {"name": "S", "fp32_tflops": 1e-9, "bandwidth_gb_s": 1e-9, "source": "own"}
    fast = {"name": "F", "fp32_tflops": 1e9, "bandwidth_gb_s": 1e9, "compute_capability": 1e9, "source": "own"}
    keep_own(own, box(1e9, gpu="S"), box(1e-9, name="fast", gpu="F", gpu_count=1e9), gpus=(slow, fast))
    words = ("--extrapolate", "--scaling", "0.0001:1", "--startup", "10000000d", "--budget", "0.000001")
    told = advise(*words, "--json", "--report", tmp_path / "a.html", "--plot", tmp_path / "a.png")
    assert told.returncode == 1, told.stderr
    assert "Warning" not in told.stderr
    assert json.loads(told.stdout)["nearest"] == "fast"


def test_more_confidence_than_can_be_counted_is_told(advise: Advise) -> None:
    told = document(advise("--deadline", "100d", "--confidence", "0.999999", "--json"))
    assert any("confidence of 0.999999" in warning for warning in told["warnings"])
    told = document(advise("--deadline", "100d", "--confidence", "0.9", "--json"))
    assert not any("confidence" in warning for warning in told["warnings"])


def test_a_latency_beside_which_nothing_is_known_still_gives_numbers(
    advise: Advise, profile: Path, tmp_path: Path
) -> None:
    told = json.loads(profile.read_text(encoding="utf-8"))
    profile.write_text(json.dumps({**told, "step_latency_ms": 5e-324, "latency_samples_ms": []}), encoding="utf-8")
    result = advise("--json", "--report", tmp_path / "a.html", "--plot", tmp_path / "a.png")
    assert "Warning" not in result.stderr
    assert any("cannot belong to this profile" in warning for warning in document(result)["warnings"])
