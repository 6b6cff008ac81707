"""The small part of ``make accuracy``: on public data ours is far better than the published method, same folds."""

import pytest
from benchmarks.accuracy import OURS, PUBLISHED, Comparison, batch_norm_models, report, small_comparison
from benchmarks.pages import write_between_marks

from profet.datasets.dataset import Dataset


@pytest.fixture(scope="module")
def comparison(public_dataset: Dataset) -> Comparison:
    return small_comparison(public_dataset, None)


def test_ours_is_far_better_on_models_left_out(comparison: Comparison) -> None:
    assert len(comparison.rows[OURS]) == len(comparison.rows[PUBLISHED]) > 800
    assert comparison.mape(OURS) < 0.6 * comparison.mape(PUBLISHED)
    assert comparison.mape(OURS) < 7


def test_both_methods_are_scored_on_the_same_rows(comparison: Comparison) -> None:
    key = ["anchor", "target", "experiment", "model", "pixels", "batch_size", "true_ms"]
    ours, published = (comparison.rows[name][key].sort_values(key).to_numpy() for name in (OURS, PUBLISHED))
    assert (ours == published).all()


def test_the_tables_stand_in_the_page_and_the_rest_of_it_stays(
    comparison: Comparison, public_dataset: Dataset, tmp_path
) -> None:
    page = tmp_path / "accuracy.md"
    page.write_text(
        "# Before\n<!-- begin: make accuracy -->\nyesterday\n<!-- end: make accuracy -->\nafter\n", encoding="utf-8"
    )
    tables = report(public_dataset, [comparison])
    write_between_marks(page, "make accuracy", tables)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Before\n")
    assert text.endswith("after\n")
    assert "yesterday" not in text
    assert f"| {comparison.mape(PUBLISHED):.2f} | {comparison.mape(OURS):.2f} |" in text


def test_models_with_batch_norm_are_known_by_their_operations(public_dataset: Dataset) -> None:
    assert batch_norm_models(public_dataset) == (
        "AlexNet", "InceptionResNetV2", "ResNet18", "ResNet34", "ResNet50", "ResNetSmall",
    )  # fmt: skip
