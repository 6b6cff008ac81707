"""Learning from use: what labs send to a service teaches, all of it or what came with the keys that one trusts."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the extra 'web' is not installed")

from profet.datasets.dataset import Dataset
from profet.profiles.profile import Profile
from tests.conftest import Run, document, refused
from tests.e2e.test_train_validate import MODELS
from tests.store.asking import Client
from tests.store.serving import headers_of_key, serving

FACTORS = {"first": 3.0, "second": 0.5}
"""How many times as long as on a.large a step takes on new.large, by the lab that says so."""

EACH = 6
"""So many workloads each lab sends with their profile."""


@dataclass
class Lab:
    """Who sends measurements, and what of them.

    Attributes:
        key: headers of its key.
        profiles: what it sent to be kept, on a.large.
        models: what these count as in a data set.
    """

    key: dict[str, str]
    profiles: list[Profile] = field(default_factory=list)
    models: list[str] = field(default_factory=list)

    @property
    def key_id(self) -> str:
        return self.key["Authorization"].split("_")[1]


@dataclass(frozen=True)
class Used:
    """A store that a service serves, and the labs that sent to it."""

    place: Path
    labs: dict[str, Lab]


def profiles_of(dataset: Dataset, count: int) -> list[Profile]:
    """So many of its profiles, of workloads from the shortest to the longest."""
    runs = np.flatnonzero(dataset.has_profile)
    latencies_ms = dataset.runs["step_latency_ms"].to_numpy(float)
    runs = runs[np.argsort(latencies_ms[runs], kind="stable")]
    return [
        Profile(
            instance="a.large",
            step_latency_ms=float(latencies_ms[row]),
            host_us=dataset.host_us.iloc[row].to_dict(),
            device_us=dataset.device_us.iloc[row].to_dict(),
        )
        for row in runs[np.linspace(0, len(runs) - 1, count).astype(int)]
    ]


@pytest.fixture(scope="module")
def used(trained: Path, small_dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Used]:
    """A service to which two labs sent different workloads of a machine that the bundle does not know."""
    folder = tmp_path_factory.mktemp("used")
    place = folder / "history.sqlite"
    labs = {name: Lab(headers_of_key(place)) for name in FACTORS}
    profiles = profiles_of(small_dataset, 2 * EACH + 1)
    with serving(folder, "--bundle", trained) as service:
        for number, profile in enumerate(profiles):
            name = ("first", "second")[number % 2]
            kept = number < 2 * EACH
            told = send(service.address, labs[name], profile, FACTORS[name], kept)
            if kept:
                labs[name].profiles.append(profile)
                labs[name].models.append(f"profile-{told['profile_sha256'][:12]}")
        yield Used(place, labs)


def send(address: str, lab: Lab, profile: Profile, factor: float, kept: bool) -> dict[str, Any]:
    assert profile.step_latency_ms is not None
    body = {
        "profile": json.loads(profile.to_json()),
        "target": "new.large",
        "latency": factor * profile.step_latency_ms,
        "keep_profile": kept,
        "force": True,  # nobody knows its name yet
    }
    with Client(address, lab.key) as client:
        answer = client.record(body)
    assert answer.status_code == 201, answer.text
    told: dict[str, Any] = answer.json()
    return told


def check_predicts(profet: Run, bundle: Path, lab: Lab, factor: float) -> None:
    """Check that a bundle predicts for new.large what one lab measured there."""
    profile = lab.profiles[EACH // 2]
    words = ("predict", "-", "--target", "new.large", "--bundle", bundle, "--json")
    (answer,) = document(profet(*words, stdin=profile.to_json()))["predictions"]
    assert answer["latency_ms"] == pytest.approx(factor * (profile.step_latency_ms or 0.0), rel=0.15)


def test_what_was_sent_teaches_by_itself_and_only_where_its_profile_was_kept(
    profet: Run, used: Used, tmp_path: Path
) -> None:
    words = ("train", "--from-store", "--history", used.place, "--no-measure", "-o", tmp_path / "b", "--json")
    done = profet(*words)
    learnt = document(done)
    assert [(pair["anchor"], pair["target"]) for pair in learnt["pairs"]] == [("a.large", "new.large")]
    assert learnt["trained_on"]["models"] == sorted(model for lab in used.labs.values() for model in lab.models)
    assert "1 records without their profile" in done.stderr


@pytest.mark.parametrize("name", ["first", "second"])
def test_a_data_set_learns_a_machine_more_from_the_key_that_is_trusted_alone(
    profet: Run, used: Used, small_dataset_path: Path, tmp_path: Path, name: str
) -> None:
    lab, bundle = used.labs[name], tmp_path / "b"
    words = ("train", small_dataset_path, "--from-store", "--history", used.place, "--key", lab.key_id)
    learnt = document(profet(*words, "--no-measure", "-o", bundle, "--json"))
    assert learnt["trained_on"]["models"] == sorted([*MODELS, *lab.models])
    check_predicts(profet, bundle, lab, FACTORS[name])


@pytest.mark.parametrize("name", ["first", "second"])
def test_a_machine_is_onboarded_from_the_key_that_is_trusted_alone(
    profet: Run, used: Used, trained: Path, tmp_path: Path, name: str
) -> None:
    lab, bundle = used.labs[name], tmp_path / "b"
    words = ("onboard", "new.large", "--from-store", "--history", used.place, "--bundle", trained, "-o", bundle)
    told = document(profet(*words, "--key", lab.key_id, "--json"))
    assert told["pairs"][0]["workloads"] == EACH
    check_predicts(profet, bundle, lab, FACTORS[name])
    refused(profet(*words, "--force", "--key", "k" * 12), "holds no record of new.large", "k" * 12)
