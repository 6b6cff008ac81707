"""``profet validate-scaler --report``: every figure of the page follows from the points that it holds."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from profet.datasets.dataset import Dataset
from tests.conftest import Run, document
from tests.reports.noise import with_noise
from tests.reports.page_reader import Page

ONE_CORE = {**os.environ, "LOKY_MAX_CPU_COUNT": "1"}


def test_every_figure_of_the_scaler_page_follows_from_its_points(
    profet: Run, small_dataset: Dataset, tmp_path: Path
) -> None:
    options = ("--anchor", "a.large", "--method", "published", "--report", tmp_path / "s.html")
    with_noise(small_dataset).save(tmp_path / "noisy.dataset")
    told = profet("validate-scaler", tmp_path / "noisy.dataset", *options, env=ONE_CORE)
    assert told.returncode == 0, told.stderr
    page = Page((tmp_path / "s.html").read_text(encoding="utf-8"))
    points = {
        (ends, axis): pd.DataFrame(columns)
        for ends, by_axis in page.facts["points"].items()
        for axis, columns in by_axis.items()
    }
    expected = [
        [
            name,
            axis,
            *scaler_cells(points["true_ends", axis], name),
            *scaler_cells(points["predicted_ends", axis], name),
        ]
        for name in ("a.large", "b.large", "c.large", "all")
        for axis in ("batch", "pixels")
    ]
    (table,) = page.tables
    assert table.rows == expected


def scaler_cells(points: pd.DataFrame, instance: str) -> list[str]:
    here = points if instance == "all" else points[points["instance"] == instance]
    if here.empty:
        return ["0", "–", "–"]
    off = here["predicted_ms"] - here["true_ms"]
    curves = len(here) // points["size"].nunique()
    return [
        str(curves),
        f"{100 * (off.abs() / here['true_ms']).mean():.2f} %",
        f"{np.sqrt((off**2).mean()):.1f} ms",
    ]


def test_scaler_csv_has_one_row_a_point(profet: Run, small_dataset_path: Path, tmp_path: Path) -> None:
    options = ("--anchor", "a.large", "--method", "published", "--report", tmp_path / "s.csv", "--json")
    told = document(profet("validate-scaler", small_dataset_path, *options, env=ONE_CORE))
    rows = pd.read_csv(tmp_path / "s.csv")
    for (axis, ends), part in rows.groupby(["axis", "ends"]):
        errors = 100 * (part["predicted_ms"] / part["true_ms"] - 1).abs()
        assert told[axis][ends]["mape"] == pytest.approx(errors.mean())
        assert told[axis][ends]["curves"] * part["size"].nunique() == len(part)
