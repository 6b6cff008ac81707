"""``profet dataset``: import, look at, check and merge data sets."""

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from profet.datasets.dataset import Dataset
from tests.conftest import Run, document, made_up_runs, refused
from tests.e2e.conftest import profiled_dataset

EXECUTES = b"cos\nsystem\n(S'touch executed'\ntR."
INSTANCES = ["g3s.xlarge", "g4dn.xlarge", "p2.xlarge", "p3.2xlarge"]


def test_info_tells_what_the_public_data_holds(profet: Run, imported: Path) -> None:
    facts = document(profet("dataset", "info", imported, "--json"))
    assert (facts["runs"], facts["profiles"]) == (9576, 6777)
    assert [each["instance"] for each in facts["instances"]] == INSTANCES
    assert sum(each["runs"] for each in facts["instances"]) == facts["runs"]
    assert {"model": "VGG16", "family": "VGG", "workloads": 23} in facts["models"]
    assert len(facts["fingerprint"]) == 64


def test_info_as_text_names_every_instance(profet: Run, imported: Path) -> None:
    told = profet("dataset", "info", imported)
    assert told.returncode == 0
    assert all(name in told.stdout for name in (*INSTANCES, "9576, 6777 of them with a profile"))


def test_repository_root_is_imported_like_its_data_folder(
    profet: Run, imported: Path, public_profet: Path, tmp_path: Path
) -> None:
    (tmp_path / "data").symlink_to(public_profet, target_is_directory=True)
    facts = document(profet("dataset", "import", "profet", tmp_path, "-o", tmp_path / "root.dataset", "--json"))
    expected = document(profet("dataset", "info", imported, "--json"))
    assert expected.items() <= facts.items()
    assert facts["output"] == str(tmp_path / "root.dataset")


def test_families_file_changes_the_families(profet: Run, public_profet: Path, tmp_path: Path) -> None:
    (tmp_path / "families.toml").write_text('[families]\nvery-deep = ["VGG"]\n', encoding="utf-8")
    options = ("-o", tmp_path / "out.dataset", "--families", tmp_path / "families.toml", "--json")
    facts = document(profet("dataset", "import", "profet", public_profet, *options))
    assert {each["family"] for each in facts["models"]} == {"very-deep", "small"}


def test_check_answers_no_with_every_finding(profet: Run, imported: Path) -> None:
    told = profet("dataset", "check", imported, "--json")
    assert (told.returncode, told.stderr) == (1, "")
    findings = json.loads(told.stdout)
    assert findings["ok"] is False
    assert {each["kind"] for each in findings["findings"]} == {"hole", "disagreement", "truncated capture"}
    assert all(set(each) == {"kind", "where", "what", "advice"} for each in findings["findings"])
    assert any(each["where"] == "p2.xlarge" and "100 %" in each["what"] for each in findings["findings"])


def test_check_answers_yes_on_a_clean_data_set(profet: Run, tmp_path: Path) -> None:
    profiled_dataset().save(tmp_path / "clean.dataset")
    assert document(profet("dataset", "check", tmp_path / "clean.dataset", "--json")) == {
        "ok": True,
        "findings": [],
    }


def test_check_finds_what_was_broken(profet: Run, tmp_path: Path) -> None:
    clean = profiled_dataset(repeats=3)
    runs = clean.runs.copy()
    runs.loc[runs["experiment"] == "exp03", "step_latency_ms"] *= 1.5
    device = clean.device_us.copy()
    device.iloc[7] *= 0.5
    replace(clean, runs=runs, device_us=device).save(tmp_path / "broken.dataset")
    told = profet("dataset", "check", tmp_path / "broken.dataset")
    assert told.returncode == 1
    assert "disagreement: 300, the first 10" in told.stdout
    assert "truncated capture" in told.stdout
    assert told.stderr == ""


def part_of(dataset: Dataset, model: str) -> Dataset:
    rows = dataset.runs["model"] == model
    sides = (frame[rows].reset_index(drop=True) for frame in (dataset.runs, dataset.host_us, dataset.device_us))
    return Dataset(*sides, (f"{model} alone",))


def test_merge_puts_the_parts_together(profet: Run, tmp_path: Path) -> None:
    whole = profiled_dataset(models=2)
    names = sorted(set(made_up_runs(2)["model"]))
    paths = [tmp_path / f"{name}.dataset" for name in names]
    for name, path in zip(names, paths, strict=True):
        part_of(whole, name).save(path)
    output = tmp_path / "merged.dataset"
    told = profet("dataset", "merge", *paths, "-o", output)
    assert (told.returncode, told.stdout) == (0, f"wrote {output}: {len(whole)} runs\n")
    facts = document(profet("dataset", "info", output, "--json"))
    assert [each["model"] for each in facts["models"]] == names
    assert (facts["runs"], facts["profiles"]) == (len(whole), len(whole))
    refused(profet("dataset", "merge", *paths, "-o", output), str(output), "--force")


def test_merge_of_the_same_runs_is_found_by_check(profet: Run, small_dataset_path: Path, tmp_path: Path) -> None:
    output = tmp_path / "twice.dataset"
    assert profet("dataset", "merge", small_dataset_path, small_dataset_path, "-o", output).returncode == 0
    told = profet("dataset", "check", output)
    assert told.returncode == 1
    assert "duplicate: 600" in told.stdout


@pytest.mark.parametrize(
    ("content", "name"),
    [(EXECUTES, "os.system"), (pickle.dumps(eval), "builtins.eval")],
    ids=["os.system", "eval"],
)
def test_pickle_that_names_code_is_refused_unexecuted(
    profet: Run, tmp_path: Path, content: bytes, name: str
) -> None:
    frames = tmp_path / "frames" / "anchor_data"
    captures = tmp_path / "captures" / "exp01" / "g3s.xlarge"
    for folder in (frames, captures):
        folder.mkdir(parents=True)
    (frames / "anchor_g3.pickle").write_bytes(content)
    (captures / "g3s.xlarge-g3s.xlarge-32dataset-LeNet5-SGD-16-1.pickle").write_bytes(content)
    for kind, folder in (("profet", "frames"), ("raw", "captures")):
        told = profet("dataset", "import", kind, folder, "-o", "out.dataset", cwd=tmp_path)
        refused(told, name, "nothing was executed", ".pickle")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["captures", "frames"]


def test_folder_without_data_says_how_to_get_it(profet: Run, tmp_path: Path, empty_folder: Path) -> None:
    told = profet("dataset", "import", "profet", empty_folder, "-o", tmp_path / "out.dataset")
    refused(told, str(empty_folder), "profet dataset fetch")
    refused(profet("dataset", "import", "raw", empty_folder, "-o", tmp_path / "out.dataset"), str(empty_folder))
    assert not (tmp_path / "out.dataset").exists()


@pytest.mark.parametrize("content", [b"[]", b"", b"PAR1" + bytes(100) + b"PAR1"], ids=["JSON", "empty", "hollow"])
def test_file_that_is_no_data_set_is_refused(profet: Run, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "some.dataset"
    path.write_bytes(content)
    refused(profet("dataset", "info", path), str(path))


@pytest.mark.parametrize("share", [0.3, 0.99])
def test_truncated_data_set_is_refused(profet: Run, tmp_path: Path, small_dataset_path: Path, share: float) -> None:
    content = small_dataset_path.read_bytes()
    path = tmp_path / "cut.dataset"
    path.write_bytes(content[: int(share * len(content))])
    refused(profet("dataset", "check", path), str(path))
