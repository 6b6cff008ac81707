"""Quantities as people write them: which are read, and as what, and which are refused."""

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from profet.errors import InputError
from profet.quantities import format_ms, parse_duration_s, parse_latency_ms, parse_money, parse_range


@pytest.mark.parametrize(
    ("text", "expected_ms"),
    [
        ("323ms", 323.0),
        ("0.323s", 323.0),
        ("322600us", 322.6),
        ("322600µs", 322.6),  # the micro sign
        ("322600μs", 322.6),  # the Greek letter
        ("323", 323.0),
        ("  12.5 ms ", 12.5),
        ("+7", 7.0),
        (".5s", 500.0),
        ("5.s", 5000.0),
        ("1e3us", 1.0),
        ("1.5E-2s", 15.0),
    ],
)
def test_a_latency_is_read_in_milliseconds_whatever_its_unit(text: str, expected_ms: float) -> None:
    assert parse_latency_ms(text) == pytest.approx(expected_ms, rel=1e-12)


@pytest.mark.parametrize("text", ["0", "0ms", "-1", "-0.5s", "1e400", "1e-400s", "1e308s"])
def test_a_latency_that_is_not_above_zero_or_not_finite_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="must be above zero and finite"):
        parse_latency_ms(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "ms",
        "fast",
        "nan",
        "NaN",
        "inf",
        "-inf",
        "infinity",
        "1,5ms",
        "1 2",
        "5min",
        "5MS",
        "5 m s",
        "0x10",
        "--3",
        "1e",
        "1.2.3",
        "٣ms",
        "1_000",
        "5\x00",
        "3ms3",
    ],
)
def test_what_is_no_number_with_a_known_unit_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match="is not a latency; write it as 323ms"):
        parse_latency_ms(text)


def test_the_refusal_of_a_latency_names_the_option_and_quotes_only_the_beginning() -> None:
    with pytest.raises(InputError) as caught:
        parse_latency_ms("x" * 10_000, what="--anchor-latency")
    assert str(caught.value).startswith("--anchor-latency: 'xxx")
    assert len(str(caught.value)) < 200


@settings(max_examples=200, deadline=None)
@given(
    value=st.floats(min_value=1e-9, max_value=1e12),
    unit=st.sampled_from([("ms", 1.0), ("s", 1e3), ("us", 1e-3), ("µs", 1e-3), ("", 1.0)]),
    space=st.sampled_from(["", " "]),
)
def test_any_positive_number_with_a_unit_is_read_back(value: float, unit: tuple[str, float], space: str) -> None:
    name, ms_per_unit = unit
    assert parse_latency_ms(f"{value!r}{space}{name}") == pytest.approx(value * ms_per_unit, rel=1e-12)


@pytest.mark.parametrize("text", ["1e300", "1e-300", "1e13s", "1e-10us"])
def test_a_latency_that_no_step_can_have_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no step takes"):
        parse_latency_ms(text)


@pytest.mark.parametrize("text", ["9" * 300 + "d", "100000y", "40000000d"])
def test_a_duration_longer_than_history_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="write it as 24h"):
        parse_duration_s(text)


@pytest.mark.parametrize("text", ["0", "0." + "0" * 300 + "1", "1" + "0" * 400, "0.00000000001USD"])
def test_money_that_nobody_has_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="above zero"):
        parse_money(text)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=30), st.text("0123456789.eE+-msuµ ", max_size=12)))
def test_any_text_gives_a_positive_latency_or_is_refused(text: str) -> None:
    try:
        value_ms = parse_latency_ms(text)
    except InputError:
        return
    assert math.isfinite(value_ms)
    assert value_ms > 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [("16:256", (16, 256)), (" 1 : 2 ", (1, 2)), ("1:999999999", (1, 999_999_999)), ("007:8", (7, 8))],
)
def test_a_range_is_two_increasing_whole_numbers(text: str, expected: tuple[int, int]) -> None:
    assert parse_range(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", ":", "16", "16:", ":256", "256:16", "16:16", "0:16", "-1:16", "1.5:3", "a:b", "1:2:3", "1:9999999999"],
)
def test_what_is_no_increasing_range_is_refused_naming_the_option(text: str) -> None:
    with pytest.raises(InputError, match=r"^--batch: .* write the smaller size first, as 16:256$"):
        parse_range(text, "--batch")


@pytest.mark.parametrize(
    ("value_ms", "expected"),
    [
        (202.8123, "202.8"),
        (0.012345, "0.01235"),
        (12345.6, "12346"),
        (1.0, "1.000"),
        (-3.14159, "-3.142"),
        (1e-9, "0.000000001000"),
        (1e21, "1" + "0" * 21),
        (0.0, "0"),
        (math.nan, "nan"),
        (math.inf, "inf"),
    ],
)
def test_milliseconds_are_shown_with_four_digits_and_no_exponent(value_ms: float, expected: str) -> None:
    assert format_ms(value_ms) == expected


@settings(max_examples=200, deadline=None)
@given(st.floats(min_value=1e-6, max_value=999))
@example(9.9996)
@example(0.099999)
def test_below_a_second_exactly_four_significant_digits_are_shown(value_ms: float) -> None:
    shown = format_ms(value_ms)
    assert len(shown.replace(".", "").lstrip("0")) == 4
    assert float(shown) == pytest.approx(value_ms, rel=6e-4)
