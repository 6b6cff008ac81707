"""Rule files: what a user knows of operations and kernels of their own, before the shipped table of op families."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import msgspec

from profet.errors import InputError
from profet.files import read_bounded
from profet.profiles.families import OpFamilies, compiled, op_families

_MAX_BYTES = 256 * 1024
_LONGEST_LINE = 2_000
_MOST_UNBOUNDED = 3
_MAX_RULES = 1000
_LONGEST_PATTERN = 1000
_ENDLESS = re.compile(r"[+*?}][^()]*\)+[+*{]|\|[^()]*\)+[+*{]")
"""A repeated group with a repetition or a choice in it."""

_UNBOUNDED = re.compile(r"(?<!\\)(?:[*+]|\{\d*,\})")
_HUGE = re.compile(r"\{\d*,?\d{3,}\}")


class _Rule(msgspec.Struct, forbid_unknown_fields=True):
    family: str
    pattern: str


class _RuleFile(msgspec.Struct, forbid_unknown_fields=True):
    names: dict[str, list[str]] = {}
    patterns: list[_Rule] = []
    kernels: list[_Rule] = []


def read_rules(path: str | Path) -> OpFamilies:
    """Return the shipped table with the rules of a file before its own.

    The file is TOML: ``[names]`` lists exact names by family; ``[[patterns]]`` (operations and kernels) and
    ``[[kernels]]`` (kernels alone) each have a family and a pattern, a regular expression found in names.

    Raises:
        InputError: it cannot be read, is no such file, names a family that is none, or an expression is none.
    """
    text = read_bounded(path, _MAX_BYTES, "rule file").decode("utf-8", "replace")
    if max(map(len, text.splitlines()), default=0) > _LONGEST_LINE:
        raise InputError(f"{path}: a line of more than {_LONGEST_LINE} characters; is it a rule file?")
    try:
        rules = msgspec.convert(tomllib.loads(text), _RuleFile)
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise InputError(f"{path}: {error}; see docs/how-to/read-traces.md") from None
    table = op_families()
    count = sum(map(len, rules.names.values())) + len(rules.patterns) + len(rules.kernels)
    if count > _MAX_RULES:
        raise InputError(f"{path}: {count} names and patterns; at most {_MAX_RULES} are read, join some")
    for family in (*rules.names, *(rule.family for rule in (*rules.patterns, *rules.kernels))):
        if family not in table.kinds:
            known = ", ".join(table.kinds)
            raise InputError(f"{path}: {family[:40]!r} is no op family; they are {known}")
    exact = [(family, f"^(?-i:{re.escape(name)})$") for family, listed in rules.names.items() for name in listed]
    written = [(rule.family, rule.pattern) for rule in rules.patterns]
    overrides = [(family, _compiled(pattern, path)) for family, pattern in (*exact, *written)]
    kernels = [(rule.family, _compiled(rule.pattern, path)) for rule in rules.kernels]
    return replace(table, overrides=tuple(overrides), kernels=(*kernels, *table.kernels))


def _compiled(pattern: str, path: str | Path) -> re.Pattern[str]:
    """Compile an expression; one that may take forever, or much memory, is refused as far as that can be seen."""
    repeated = (
        _ENDLESS.search(pattern) or _HUGE.search(pattern) or len(_UNBOUNDED.findall(pattern)) > _MOST_UNBOUNDED
    )
    if repeated or not 0 < len(pattern) <= _LONGEST_PATTERN:
        raise InputError(
            f"{path}: pattern {pattern[:60]!r} is empty, long or repeats too much, which may take forever"
        )
    try:
        return compiled(pattern)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
