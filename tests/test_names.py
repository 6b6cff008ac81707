"""Names close to each other: what a typo is answered with, and which operation stands for an unseen one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from profet.names import nearest, suggest

INSTANCES = ["g3s.xlarge", "g4dn.xlarge", "p2.xlarge", "p3.2xlarge"]
short_text = st.text(max_size=12)


def test_the_nearest_name_is_the_one_with_the_fewest_edits() -> None:
    known = ["MatMul", "FusedBatchNormV3", "BiasAdd"]
    assert nearest(["FusedBatchNormV4", "MatMulV2"], known) == ["FusedBatchNormV3", "MatMul"]


def test_a_known_name_is_its_own_nearest() -> None:
    assert nearest(["MatMul"], ["MatMuls", "MatMul"]) == ["MatMul"]


def test_of_equally_near_names_the_first_given_is_taken() -> None:
    assert nearest(["ab"], ["ax", "xb"]) == ["ax"]
    assert nearest(["ab"], ["xb", "ax"]) == ["xb"]


def test_distances_beyond_a_byte_and_beyond_two_are_told_apart() -> None:
    assert nearest(["a" * 300], ["b" * 257, "a"]) == ["a"]
    assert nearest(["a" * 70_000], ["b" * 65_537, "a"]) == ["a"]


def test_nothing_is_nearest_where_no_name_is_known() -> None:
    with pytest.raises(ValueError, match="no name is known"):
        nearest(["MatMul"], [])


def test_no_name_has_no_nearest() -> None:
    assert nearest([], ["MatMul"]) == []


@settings(max_examples=150, deadline=None)
@given(names=st.lists(short_text, max_size=5), known=st.lists(short_text, min_size=1, max_size=20))
def test_the_nearest_name_is_at_the_smallest_distance_and_the_first_there(
    names: list[str], known: list[str]
) -> None:
    expected = [min(known, key=lambda other: Levenshtein.distance(name, other)) for name in names]
    assert nearest(names, known) == expected


def test_a_typo_is_answered_with_the_nearest_names_best_first() -> None:
    assert suggest("g4dn.xlagre", INSTANCES).startswith("nearest: g4dn.xlarge, ")


def test_two_swapped_letters_count_as_one_slip() -> None:
    assert suggest("eval", ["ebcl", "vael", "evla"], limit=1).startswith("nearest: evla")


def test_how_many_names_are_known_is_told_only_when_some_are_left_out() -> None:
    assert suggest("p2", INSTANCES).endswith("(4 known)")
    assert suggest("p2", INSTANCES[:3]).count("known") == 0


def test_a_name_is_suggested_once_however_often_it_is_known() -> None:
    assert suggest("x", ["a100", "a100", "a100"]) == "nearest: a100"


def test_nothing_is_suggested_where_no_name_is_known() -> None:
    assert suggest("x", []) == "none is known"


@settings(max_examples=100, deadline=None)
@given(
    name=short_text, known=st.sets(st.text("abcdef", min_size=1, max_size=8), min_size=1), limit=st.integers(1, 5)
)
def test_only_known_names_are_suggested_and_no_more_than_asked_for(name: str, known: set[str], limit: int) -> None:
    listed = suggest(name, known, limit).removeprefix("nearest: ").partition(" (")[0].split(", ")
    assert set(listed) <= known
    assert len(listed) == min(limit, len(known))
