"""TensorFlow op statistics as CSV: both generations of headers, and what spreadsheets make of them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.errors import InputError
from profet.profiles.formats import ReadOptions, op_stats_csv
from profet.profiles.formats.recognition import looks_like_op_stats
from profet.profiles.profile import Profile

OLD = "Host/device,Type,Operation,#Occurrences,Total time (us)"
NEW = "Host/device,Operation Type,Operation Name,#Occurrences,Total time (us)"
ROWS = """
Device,Conv2D,model/conv1/Conv2D,4,300.5
Device,Conv2D,model/conv2/Conv2D,2,99.5
Device,IDLE,IDLE,0,100.0
Host,Conv2D,model/conv1/Conv2D,2,10
Host,IDLE,IDLE,0,390
"""
RAW_NAME = "g3s.xlarge-g3s.xlarge-128dataset-AlexNet-SGD-16-20210202-1426402021_02_02_14_29_22.csv"


def read(content: bytes | str, where: str = "x.csv", **options: Any) -> Profile:
    data = content.encode() if isinstance(content, str) else content
    return op_stats_csv.read(data, where, ReadOptions(**options))


def refusal(content: bytes | str, **options: Any) -> str:
    with pytest.raises(InputError, match=r"^x\.csv: ") as caught:
        read(content, **options)
    return str(caught.value)


@pytest.mark.parametrize("header", [OLD, NEW, OLD.upper(), NEW.replace(",", " , ")])
def test_time_and_calls_are_summed_by_side_and_type_per_step(header: str) -> None:
    profile = read(header + ROWS, steps=2)
    assert profile.device_us == {"Conv2D": 200.0, "IDLE": 50.0}
    assert profile.host_us == {"Conv2D": 5.0, "IDLE": 195.0}
    assert profile.device_calls == {"Conv2D": 3.0, "IDLE": 0.0}
    assert profile.host_calls == {"Conv2D": 1.0, "IDLE": 0.0}
    assert profile.steps == 2


def test_columns_are_found_by_name_whatever_their_order_and_number() -> None:
    profile = read("Rank,Total time (us),Extra,Type,Host/device\n1,7,x,MatMul,DEVICE\n", steps=1)
    assert profile.device_us == {"MatMul": 7.0}
    assert profile.device_calls == {}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_encodings_and_line_ends_of_spreadsheets_are_read(encoding: str, line_end: str) -> None:
    content = (OLD + ROWS).replace("\n", line_end).encode(encoding)
    assert looks_like_op_stats(content)
    assert read(content, steps=1).device_us == {"Conv2D": 400.0, "IDLE": 100.0}


def test_semicolons_come_with_decimal_commas() -> None:
    content = (OLD + ROWS).replace(",", ";").replace(".", ",")
    assert read(content, steps=1).device_us == {"Conv2D": 400.0, "IDLE": 100.0}


def test_semicolons_may_come_with_decimal_points_and_tabs_are_read() -> None:
    for delimiter in (";", "\t"):
        assert read((OLD + ROWS).replace(",", delimiter), steps=1).device_us == {"Conv2D": 400.0, "IDLE": 100.0}


def test_commas_that_group_thousands_are_read() -> None:
    assert read('Host/device,Type,Total time (us)\nDevice,MatMul,"1,234,567.5"\n', steps=1).device_us == {
        "MatMul": 1234567.5
    }


@pytest.mark.parametrize(("cell", "us"), [("1.234.567,5", 1234567.5), ("12.345,678", 12345.678)])
def test_points_that_group_thousands_do_not_shrink_a_time(cell: str, us: float) -> None:
    content = f"Host/device;Type;Total time (us)\nDevice;MatMul;{cell}\n"
    try:
        assert read(content, steps=1).device_us == {"MatMul": us}
    except InputError as error:
        assert "row 2" in str(error)  # noqa: PT017 - refusing is right too; a wrong time is not


def test_operation_names_in_korean_windows_encoding_are_read() -> None:
    content = (OLD + "\nDevice,Conv2D,모델/합성곱,1,5\nDevice,행렬곱,모델/행렬곱,1,7\n").encode("cp949")
    assert read(content, steps=1).device_us == {"Conv2D": 5.0, "행렬곱": 7.0}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp949"])
def test_korean_headers_are_refused_naming_the_columns_found(encoding: str) -> None:
    line = refusal("호스트/장치,유형,작업,총 시간 (us)\nDevice,Conv2D,a,5\n".encode(encoding))
    assert "columns are '호스트/장치', '유형'" in line
    assert "expected Host/device" in line


@pytest.mark.parametrize("header", ["Type,Total time (us)", "Host/device,Total time (us)", "Host/device,Type", "x"])
def test_a_missing_column_is_refused_naming_what_is_there(header: str) -> None:
    assert repr(header.split(",", maxsplit=1)[0].lower()) in refusal(header + "\nDevice,1\n", steps=1)


@pytest.mark.parametrize("rows", ["\n", "\n\n , , , , \n", "\nHost,Conv2D,a,1,5\n", "\nDevice,IDLE,IDLE,1,5\n"])
def test_a_table_without_device_operations_is_refused(rows: str) -> None:
    assert "no device operations" in refusal(OLD + rows, steps=1)


def test_a_short_row_is_refused_by_number() -> None:
    assert "row 3 has 2 columns of 5" in refusal(OLD + "\nDevice,Conv2D,a,1,5\nDevice,Conv2D\n", steps=1)


@pytest.mark.parametrize("cell", ["fast", "", "-1", "nan", "inf", "1e999", "0x10", "1 2", "12us"])
def test_what_stands_where_a_time_belongs_is_refused_naming_row_and_column(cell: str) -> None:
    assert "row 2, Total time (us) is" in refusal(f"{OLD}\nDevice,Conv2D,a,1,{cell}\n", steps=1)


def test_a_number_of_calls_that_is_none_is_refused() -> None:
    assert "row 2, #Occurrences is 'many'" in refusal(OLD + "\nDevice,Conv2D,a,many,5\n", steps=1)


@pytest.mark.parametrize("start", ["GPU,Conv2D", ",Conv2D", "Device,"])
def test_an_unknown_side_or_a_nameless_type_is_refused(start: str) -> None:
    assert "row 2: Host/device is" in refusal(f"{OLD}\n{start},a,1,5\n", steps=1)


def test_steps_must_be_given_where_nothing_tells_them() -> None:
    assert "give --steps N" in refusal(OLD + ROWS)


def test_steps_are_taken_from_the_step_latency_with_a_warning() -> None:
    profile = read(OLD + ROWS, step_latency_ms=0.1)
    assert profile.steps == 5
    assert profile.device_us["Conv2D"] == 80.0
    assert "taken as 5" in profile.warnings[0]


def test_a_file_named_as_the_published_captures_are_covers_two_steps() -> None:
    profile = read(OLD + ROWS, where=f"some/folder/{RAW_NAME}")
    assert (profile.steps, profile.warnings) == (2, [])


def test_a_table_without_operation_names_covers_two_steps() -> None:
    profile = read("Host/device,Type,Total time (us)\nDevice,MatMul,8\n")
    assert (profile.steps, profile.device_us) == (2, {"MatMul": 4.0})


def test_steps_that_are_given_win_over_name_and_latency() -> None:
    assert read(OLD + ROWS, where=RAW_NAME, steps=10, step_latency_ms=0.1).steps == 10


def test_times_too_large_to_add_up_are_refused() -> None:
    rows = "\nDevice,MatMul,a,1,1.7e308\nDevice,Conv2D,b,1,1.7e308\n"
    refusal(OLD + rows, step_latency_ms=1.0)
    refusal(OLD + rows.replace("Conv2D", "MatMul"), steps=1)


def test_an_endless_quote_or_cell_is_refused() -> None:
    refusal(OLD + '\nDevice,"' + "x" * 200_000, steps=1)
    refusal('"' + "Host/device," * 20_000, steps=1)


def check_read_or_refused(content: bytes, **options: Any) -> None:
    try:
        profile = read(content, **options)
    except InputError as error:
        assert str(error).startswith("x.csv: ")  # noqa: PT017 - any other error must fail the test
    else:
        assert profile.has_device_operations


cells = st.sampled_from(
    ["Device", "Host", "IDLE", "Conv2D", "1", "2.5", "1,5", "-1", "nan", "1e308", '"', "", "합"]
)
rows = st.lists(st.lists(cells | st.text(max_size=4), max_size=6), max_size=6)


@settings(max_examples=200, deadline=None)
@given(rows, st.sampled_from([",", ";", "\t"]), st.sampled_from(["utf-8", "utf-16", "cp949"]), st.booleans())
def test_arbitrary_rows_are_refused_or_a_profile(rows: Any, delimiter: str, encoding: str, known: bool) -> None:
    header = delimiter.join(NEW.split(","))
    text = "\n".join([header, *(delimiter.join(row) for row in rows)])
    options: dict[str, Any] = {"steps": 2} if known else {"step_latency_ms": 0.5}
    check_read_or_refused(text.encode(encoding, "ignore"), **options)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=80), st.booleans())
def test_random_bytes_are_refused_or_a_profile(content: bytes, with_header: bool) -> None:
    check_read_or_refused((OLD.encode() + b"\n" if with_header else b"") + content, steps=1)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"Host/device,Type,Total time (us),Total time (us)\nDevice,MatMul,100,7\n", "stands twice"),
        (b"Host/device,Type,Total time (us)\nDevice,MatMul,1_000\n", "must be a number"),
    ],
)
def test_a_doubtful_time_is_refused(content: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        op_stats_csv.read(content, "x.csv", ReadOptions(steps=1))
