"""What ``train``, ``validate`` and ``validate-scaler`` cannot do: one clear line, no output."""

from pathlib import Path

import pytest

from profet.datasets.dataset import Dataset
from tests.conftest import Run, refused


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--leave-out", "instance"], ["--leave-out instance", "three GPUs", "a.large"]),
        (["--leave-out", "modle"], ["--leave-out", "'modle'", "model"]),
        (["--leave-out-models", "VGG1"], ["'VGG1'", "VGG0"]),
        (["--leave-out-models", "VGG0,ResNet1,Inception2,Odd3"], ["nothing to learn from"]),
        (["--anchor", "b.large"], ["anchor 'b.large'", "a.large"]),
        (["--anchor", "a.lagre"], ["anchor 'a.lagre'", "a.large"]),
        (["--target", "d.large"], ["target 'd.large'", "b.large"]),
        (["--anchor", "a.large", "--target", "a.large"], ["different target"]),
        (["--method", "publisehd"], ["'publisehd'", "published"]),
        (["--families", "no.toml"], ["no.toml", "no such file"]),
    ],
)
def test_question_that_cannot_be_answered_is_refused(
    profet: Run, small_dataset_path: Path, options: list[str], words: list[str]
) -> None:
    refused(profet("validate", small_dataset_path, *options), *words)


@pytest.mark.parametrize("text", ["[families", "[families]\nVGG = [1]"])
def test_table_of_families_that_is_none_is_refused(
    profet: Run, small_dataset_path: Path, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "families.toml"
    path.write_text(text, encoding="utf-8")
    refused(profet("validate", small_dataset_path, "--families", path), str(path))


@pytest.mark.parametrize(
    ("options", "words"),
    [(["--anchor", "z.large"], ["anchor 'z.large'", "a.large"]), (["--method", "best"], ["'best'", "published"])],
)
def test_training_that_cannot_be_done_writes_nothing(
    profet: Run, small_dataset_path: Path, empty_folder: Path, options: list[str], words: list[str]
) -> None:
    refused(profet("train", small_dataset_path, "-o", empty_folder / "out.profet", *options), *words)
    assert list(empty_folder.iterdir()) == []


def test_training_does_not_replace_a_bundle_unasked(profet: Run, small_dataset_path: Path, tmp_path: Path) -> None:
    output = tmp_path / "mine.profet"
    output.write_text("mine", encoding="utf-8")
    refused(profet("train", small_dataset_path, "-o", output), str(output), "--force")
    assert output.read_text(encoding="utf-8") == "mine"


def test_training_on_something_else_is_refused(profet: Run, example_path: Path, empty_folder: Path) -> None:
    refused(profet("train", example_path, "-o", empty_folder / "out.profet"), str(example_path), "not a data set")
    assert list(empty_folder.iterdir()) == []


def test_one_model_alone_cannot_be_left_out(profet: Run, small_dataset: Dataset, tmp_path: Path) -> None:
    rows = small_dataset.runs["model"] == "VGG0"
    frames = (small_dataset.runs, small_dataset.host_us, small_dataset.device_us)
    Dataset(*(frame[rows].reset_index(drop=True) for frame in frames)).save(tmp_path / "one.dataset")
    refused(profet("validate", tmp_path / "one.dataset"), "VGG0", "add other models")
    refused(profet("train", tmp_path / "one.dataset", "-o", tmp_path / "out.profet"), "VGG0", "add other models")
    assert not (tmp_path / "out.profet").exists()


def test_scaler_of_an_unknown_instance_is_refused(profet: Run, small_dataset_path: Path) -> None:
    refused(profet("validate-scaler", small_dataset_path, "--instance", "x.large"), "'x.large'", "a.large")
