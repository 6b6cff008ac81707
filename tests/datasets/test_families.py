"""Which family a model belongs to: by the longest prefix, from the shipped table or one's own."""

from pathlib import Path

import pytest

from profet.datasets.dataset import Dataset
from profet.datasets.families import FamilyTable
from profet.errors import InputError


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("VGG16", "VGG"),
        ("ResNet50", "ResNet"),
        ("InceptionResNetV2", "Inception"),
        ("MobileNetV2", "MobileNet"),
        ("LeNet5", "small"),
        ("MNIST_CNN", "small"),
        ("MyOwnNet", "small"),
        ("vgg16", "small"),
        ("", "small"),
    ],
)
def test_the_shipped_table_knows_the_published_families(model: str, family: str) -> None:
    assert FamilyTable.load().family(model) == family


def test_the_public_models_are_in_families_of_their_names(public_dataset: Dataset) -> None:
    families = public_dataset.runs.groupby("family")["model"].unique()
    assert set(families.index) == {"VGG", "ResNet", "Inception", "small"}
    assert all(model.startswith("VGG") for model in families["VGG"])


def test_the_longest_prefix_wins_whatever_the_order() -> None:
    for prefixes in ({"Res": "A", "ResNet": "B"}, {"ResNet": "B", "Res": "A"}):
        table = FamilyTable(prefixes)
        assert table.families(["ResNet50", "ResNeXt", "ResNet50"]) == ["B", "A", "B"]


def test_a_table_of_ones_own_is_read(tmp_path: Path) -> None:
    path = tmp_path / "families.toml"
    path.write_text('[families]\ntransformers = ["ViT", "Swin"]\n"합성곱" = ["합"]\n', encoding="utf-8")
    assert FamilyTable.load(path).families(["ViT-B", "SwinT", "합1", "VGG16"]) == [
        "transformers",
        "transformers",
        "합성곱",
        "small",
    ]


@pytest.mark.parametrize(
    "content",
    [
        'VGG = ["VGG"]',
        '[families]\nVGG = "VGG"',
        "[families]\nVGG = [1]",
        '[families]\nVGG = [""]',
        "families = 3",
        "[families]\nVGG = {a = 1}",
    ],
)
def test_a_table_of_another_shape_is_refused_with_an_example(tmp_path: Path, content: str) -> None:
    path = tmp_path / "families.toml"
    path.write_text(content)
    with pytest.raises(
        InputError, match=r'families\.toml: expected \[families\] with lines such as VGG = \["VGG"\]'
    ):
        FamilyTable.load(path)


@pytest.mark.parametrize(
    "content",
    [
        b"[families",
        b"VGG: [VGG]",
        b"\xff\xfe\x00",
        b"[families]\na = [1]\na = [2]",
        b"a = " + b"9" * 5000,
        b"a = " + b"[" * 5000,
        b"a = 2021-13-45",
    ],
    ids=["open", "yaml", "bytes", "twice", "huge number", "deep", "date"],
)
def test_what_is_no_toml_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "families.toml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"families\.toml: "):
        FamilyTable.load(path)


def test_a_missing_table_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.toml: no such file"):
        FamilyTable.load(tmp_path / "absent.toml")
