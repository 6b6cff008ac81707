"""The pages' texts: whole in every language, all of them used; and colours that are those of the pictures."""

import ast
import re
import string
import tomllib
from importlib import resources
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra 'web' is not installed")

from profet.predictors.answer import GAP
from profet.profiles.families import op_families
from profet.reports import colours
from profet.web.pages.language import LANGUAGES, negotiated, texts
from profet.web.pages.messages import told

WEB = Path(str(resources.files("profet.web")))
SOURCES = [*(WEB / "templates").glob("*.html"), *(WEB / "pages").glob("*.py")]

_LITERAL = re.compile(r"\bt(?:exts)?\(\s*['\"]([a-z]+\.\w+)['\"]")
_CHOSEN = re.compile(r"'([a-z]+\.[a-z_]+)' if [^%}]*? else '([a-z]+\.[a-z_]+)'")
_BEGUN = re.compile(r"['\"]([a-z_]+\.)['\"] ~|f['\"]([a-z_]+\.)\{|t\.known\(['\"]([a-z_]+\.)")


def _placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_missing_or_asks_for_another_value(language: str) -> None:
    first, here = texts(next(iter(LANGUAGES))).strings, texts(language).strings
    assert first.keys() == here.keys()
    assert {key for key in first if _placeholders(first[key]) != _placeholders(here[key])} == set()
    assert all(text.strip() for text in here.values())


def test_korean_is_korean() -> None:
    known = texts("ko").strings
    latin = {key for key, text in known.items() if not re.search("[가-힣]", text)}
    assert latin <= {"field.gpu", "col.gpus", "col.vcpus", "instances.gpu", "instances.vcpus"}


def test_every_text_that_a_page_names_is_there_and_every_text_is_named() -> None:
    named: set[str] = set()
    begun: set[str] = {"field.", "faster."}
    for source in SOURCES:
        text = source.read_text(encoding="utf-8")
        named |= set(_LITERAL.findall(text)) | {key for pair in _CHOSEN.findall(text) for key in pair}
        begun |= {found for each in _BEGUN.findall(text) for found in each if found}
    known = texts("en").strings
    assert {key for key in named if key not in known} == set()
    assert {key for key in known if key not in named and not key.startswith(tuple(begun))} == set()


def test_no_template_holds_words_of_its_own() -> None:
    for template in (WEB / "templates").glob("*.html"):
        bare = re.sub(
            r"\{%.*?%\}|\{\{.*?\}\}|<[^>]*>|&\w+;", " ", template.read_text(encoding="utf-8"), flags=re.DOTALL
        )
        words = set(re.findall(r"[A-Za-z]{2,}", bare)) - {"Profet", "ms", "px"}
        assert words == set(), template.name


def test_every_family_of_operations_has_a_name() -> None:
    named = {key.removeprefix("family.") for key in texts("ko").strings if key.startswith("family.")}
    assert named == {*op_families().kinds, GAP}


def test_every_korean_sentence_has_a_place_for_what_its_pattern_finds() -> None:
    content = tomllib.loads((WEB / "texts" / "messages.ko.toml").read_text(encoding="utf-8"))
    for each in (*content["message"], *content["phrase"]):
        found = re.compile(each["pattern"]).groups
        assert all(int(name) < found for name in _placeholders(each["text"])), each


@pytest.mark.parametrize(
    "message",
    [
        "a.json: 9000 operations; at most 8192 are read here, leave out the shortest",
        "a.json: not JSON (line 1, column 1: Expecting value)",
        "a.json: key 'a' stands twice in one object; keep one of them",
        "the pasted text: JSON of more than 1048576 bytes; send a profile that is larger as a file in a form",
        "t: send what profet partition import makes of it; reading it takes more than 20 s or 2048 MiB",
        "t: names os.system, which no such file needs; refused, nothing was executed",
        "single chunks of 12 on cpu, 25 on igpu would take 93.05 ms by interpolation; measure these sizes, or take"
        " --algorithm exact",
    ],
)
def test_a_message_is_told_in_korean_whole(message: str) -> None:
    said = told(message, texts("ko"))
    assert said.language == "ko"
    assert not re.search(r"\b(?:on|it|the|of|more)\b", said.text)


def test_a_message_names_fields_by_their_labels_but_leaves_commands_alone() -> None:
    said = told("give --anchor-latency; or: profet instances add NAME --price P", texts("en"))
    assert said.text == ("give “Its step latency without the profiler”; or: profet instances add NAME --price P")


@pytest.mark.parametrize(
    ("accept", "language"),
    [
        ("", "en"),
        ("ko", "ko"),
        ("ko-KR,en;q=0.5", "ko"),
        ("en-US,ko;q=0.9", "en"),
        ("ko;q=0", "en"),
        ("*;q=x", "en"),
    ],
)
def test_the_language_is_the_one_that_a_visitor_likes_best(accept: str, language: str) -> None:
    assert negotiated(accept) == language


def test_colours_are_those_of_the_pictures() -> None:
    style = (WEB / "static" / "pages.css").read_text(encoding="utf-8")
    light = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", style[: style.index("@media")]))
    assert light["predicted"] == colours.PREDICTED
    assert light["extrapolated"] == colours.EXTRAPOLATED
    assert light["measured"] == colours.MEASURED
    assert light["cost"] == colours.COST
    assert light["recommended"] == colours.RECOMMENDED
    assert (light["ink"], light["muted"], light["grid"]) == (colours.INK, colours.MUTED, colours.GRID)


def test_pages_hold_no_logic_that_imports_from_the_command_line() -> None:
    for source in (WEB / "pages").glob("*.py"):
        tree = ast.parse(source.read_text(encoding="utf-8"))
        names = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not any(name.startswith("profet.cli") for name in names), source.name
