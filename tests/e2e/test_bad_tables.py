"""Op-stats tables as people save them: what can be read is read, the rest is refused by row or column."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, document, refused

HEADER = "Host/device,Type,Operation,#Occurrences,Total time (us)\n"
GOOD = HEADER + "Device,Conv2D,a,1,40000.5\nDevice,IDLE,IDLE,0,100\nHost,IDLE,IDLE,0,41000\n"
OPTIONS = ("--anchor", "g3s.xlarge", "--anchor-latency", "40ms", "--steps", 1)


@pytest.fixture(scope="module")
def expected(profet: Run) -> Any:
    """The prediction from the table as it should be."""
    return document(profet("predict", "-", *OPTIONS, "--json", stdin=GOOD))


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + GOOD.encode(),
        b"\xef\xbb\xbf" + GOOD.replace(",", ";").encode(),
        GOOD.replace(",", ";").replace("40000.5", "40000,5").encode(),
        GOOD.replace(",", "\t").encode(),
        GOOD.replace("\n", "\r\n").encode(),
        GOOD.encode("utf-16"),
        GOOD.replace("40000.5", '"40,000.5"').encode(),
        GOOD.replace("IDLE", " IDLE ").encode() + b"\n,,,,\n",
    ],
    ids=["BOM", "BOM and semicolons", "decimal commas", "tabs", "CRLF", "UTF-16", "thousands", "blanks"],
)
def test_table_from_any_spreadsheet_is_read_alike(
    profet: Run, tmp_path: Path, expected: Any, content: bytes
) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    assert document(profet("predict", path, *OPTIONS, "--json")) == expected


@pytest.mark.parametrize("encoding", ["utf-8", "cp949"])
def test_korean_columns_are_refused(profet: Run, tmp_path: Path, encoding: str) -> None:
    path, output = tmp_path / "korean.csv", tmp_path / "profile.json"
    path.write_text("호스트/장치,종류,작업,총 시간 (us)\nDevice,Conv2D,a,5\n", encoding=encoding)
    refused(profet("predict", path, *OPTIONS), str(path), "Host/device", "Total time (us)")
    forced = profet("convert", path, "-o", output, "--format", "op-stats-csv", "--steps", 1)
    refused(forced, str(path), "호스트/장치", "Total time (us)")
    assert not output.exists()


@pytest.mark.parametrize("time", ["-1", "nan", "inf", "fast", "", "0x10", "1e999"])
def test_time_that_is_none_is_named_by_its_row(profet: Run, tmp_path: Path, time: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(GOOD.replace("41000", time), encoding="utf-8")
    refused(profet("predict", path, *OPTIONS), str(path), "row 4", "Total time (us)")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (GOOD.replace("Device,", "Host,"), ["no device operations"]),
        (GOOD.replace("Host,IDLE", "Moon,IDLE"), ["row 4", "Moon"]),
        (GOOD.replace("Host,IDLE,IDLE,0,41000", "Host,IDLE"), ["row 4"]),
        (GOOD.replace("Total time (us)", "Total time (ms)"), ["Total time (us)"]),
        (HEADER, ["no device operations"]),
        (GOOD + "Device," + "x" * 200_000 + ",a,1,5\n", ["table.csv"]),
    ],
    ids=["host alone", "another side", "short row", "ms", "no rows", "endless cell"],
)
def test_table_that_cannot_be_meant_is_refused(profet: Run, tmp_path: Path, content: str, words: list[str]) -> None:
    path = tmp_path / "table.csv"
    path.write_text(content, encoding="utf-8")
    refused(profet("predict", path, *OPTIONS), *words)


def test_unknown_number_of_steps_is_asked_for(profet: Run, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(GOOD, encoding="utf-8")
    refused(profet("predict", path, "--anchor", "g3s.xlarge"), str(path), "--steps")
