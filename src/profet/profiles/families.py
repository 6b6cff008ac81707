"""Which family an operation belongs to: what kind of work it does, whatever its framework calls it."""

import hashlib
import re
import tomllib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any, Self

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

IDLE_FAMILY = "idle"
INPUT_FAMILY = "input"
ANYTHING_ELSE = "elementwise"
"""Where an operation goes whose name is like no other."""

_MISSPELT = 0.15
"""A name that differs from a known one in at most this share of its letters is taken for it, before any pattern."""

_LIKE = 0.5
"""Beyond this share, the nearest known name says nothing."""

_REMEMBERED = 8192
_READ_CHARACTERS = 300
"""So much of a name is read; what a template's arguments say after that does not matter."""

_NUMBERED = re.compile(r"\.\d+$")
_TAG = re.compile(r" \[([a-z_]+)(?: ([a-z0-9]+))?\]$")


@dataclass(frozen=True)
class Placed:
    """Where an operation belongs, and what its name tells.

    Args:
        family: its op family.
        relative: the known name that it was taken for; None where it is known itself, or a pattern decided.
        vocabulary: whose word it is ("tensorflow", "pytorch", "xla"), "kernels" for anything else.
        precision: the reduced precision that it shows, such as "half" or "tf32"; None for none.
        guessed: whether neither its name, nor one like it but for a few letters, nor a pattern decided.
    """

    family: str
    relative: str | None = None
    vocabulary: str = "kernels"
    precision: str | None = None
    guessed: bool = False


@dataclass(frozen=True, eq=False)
class OpFamilies:
    """A table from operation names to families; ``data/op_families.toml`` is the shipped one.

    Args:
        kinds: what bounds each family, such as "compute" or "memory", in the table's order.
        names: family by exact operation name.
        vocabularies: which framework's vocabulary an exact name belongs to.
        patterns: family and regular expression, in the order in which they are tried.
        kernels: the same for the names of kernels alone, tried before the others.
        overrides: the same, tried before anything else; none in the shipped table.
        splits: expressions of operations that do two kinds of work, and the two families of which kernels tell one.
        precisions: name of a reduced precision and the expression that kernel names show it by, in that order.
        fingerprint: of the table's text.
    """

    kinds: dict[str, str]
    names: dict[str, str]
    vocabularies: dict[str, str]
    patterns: tuple[tuple[str, re.Pattern[str]], ...]
    kernels: tuple[tuple[str, re.Pattern[str]], ...]
    splits: tuple[tuple[re.Pattern[str], tuple[str, str]], ...]
    precisions: tuple[tuple[str, re.Pattern[str]], ...]
    fingerprint: str
    overrides: tuple[tuple[str, re.Pattern[str]], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a table.

        Raises:
            ValueError: not TOML, a section missing, a name in two families, a family without a kind, or an
                expression that is none.
        """
        table: dict[str, Any] = tomllib.loads(text)
        names: dict[str, str] = {}
        vocabularies: dict[str, str] = {}
        try:
            for vocabulary, families in table["names"].items():
                for family, known in families.items():
                    for name in known:
                        if names.setdefault(name, family) != family:
                            raise ValueError(f"{name!r} stands in {names[name]} and in {family}")
                        vocabularies.setdefault(name, vocabulary)
            patterns = tuple((rule["family"], compiled(rule["pattern"])) for rule in table["patterns"])
            kernels = tuple((rule["family"], compiled(rule["pattern"])) for rule in table.get("kernels", ()))
            splits = tuple(
                (compiled(rule["pattern"]), (rule["data"], rule["filter"])) for rule in table.get("splits", ())
            )
            precisions = tuple((rule["name"], compiled(rule["pattern"])) for rule in table["precisions"])
            ruled = {family for family, _ in (*patterns, *kernels)} | {each for _, pair in splits for each in pair}
            strangers = {*names.values(), *ruled} - set(table["kinds"])
        except KeyError as error:
            raise ValueError(f"no {error} in the table of op families") from None
        if strangers:
            raise ValueError(f"families without a kind: {', '.join(sorted(strangers))}")
        fingerprint = hashlib.sha256(text.encode()).hexdigest()
        return cls(table["kinds"], names, vocabularies, patterns, kernels, splits, precisions, fingerprint)

    @cached_property
    def device(self) -> tuple[str, ...]:
        """Families that keep a device busy, in the table's order."""
        return tuple(family for family, kind in self.kinds.items() if kind not in {"idle", "host"})

    @cached_property
    def _working(self) -> list[str]:
        """Names that an unknown one may be taken for: none that stands for waiting."""
        return [name for name, family in self.names.items() if family in self.device]

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._working), default=0)

    def families(self, operations: Sequence[str]) -> list[str]:
        """Return the family of each operation; for a name without a rule, that of the nearest known name."""
        return [placed.family for placed in self.places(tuple(operations))]

    @lru_cache(maxsize=8)  # noqa: B019 (one table lives as long as the process)
    def places(self, operations: tuple[str, ...]) -> tuple[Placed, ...]:
        """Return where each operation belongs."""
        return tuple(self.place(name) for name in operations)

    @lru_cache(maxsize=_REMEMBERED)  # noqa: B019
    def place(self, operation: str) -> Placed:
        """Return where an operation belongs.

        What stands in brackets behind it decides (see tagged), else its own name, else a known one that differs by
        a few letters, else a pattern, else the nearest known name.
        """
        tag = _TAG.search(operation)
        if tag is not None and tag[1] in self.kinds:
            plain = operation[: tag.start()]
            return Placed(tag[1], None, self._vocabulary(plain), tag[2])
        return self._place(operation, self.patterns)

    @lru_cache(maxsize=_REMEMBERED)  # noqa: B019
    def place_kernel(self, kernel: str) -> Placed:
        """Return where a kernel belongs: the rules for kernels are tried before those for any name."""
        return self._place(kernel, (*self.kernels, *self.patterns))

    def split(self, operation: str) -> tuple[str, str] | None:
        """Return the two families of an operation that does two kinds of work; None for any other."""
        return next((pair for pattern, pair in self.splits if pattern.search(operation)), None)

    def overrides_name(self, operation: str) -> bool:
        """Whether a rule that was added to the shipped table decides on this name."""
        return self._override(_NUMBERED.sub("", operation[:_READ_CHARACTERS])) is not None

    def _override(self, plain: str) -> str | None:
        return next((family for family, pattern in self.overrides if pattern.search(plain)), None)

    def tagged(self, name: str, family: str, precision: str | None, guessed: bool = False) -> str:
        """Return a name that tells this family and precision: itself where it does, else with both in brackets."""
        own = self.place(name)
        if (own.family, own.precision) == (family, precision) and (guessed or not own.guessed):
            return name
        return f"{name} [{family}{' ' + precision if precision else ''}]"

    def _place(self, operation: str, patterns: tuple[tuple[str, re.Pattern[str]], ...]) -> Placed:
        plain = _NUMBERED.sub("", operation[:_READ_CHARACTERS])
        override = self._override(plain)
        if override is not None:
            return Placed(override, None, self._vocabulary(plain), self._precision(plain))
        if plain in self.names:
            return Placed(self.names[plain], vocabulary=self._vocabulary(plain))
        precision = self._precision(plain)
        near = None
        if len(plain) * (1 - _LIKE) <= self._longest:  # else nothing is near enough
            near = process.extractOne(
                plain, self._working, scorer=Levenshtein.distance, score_cutoff=int(_LIKE * len(plain))
            )
        if near is not None and near[1] <= _MISSPELT * len(plain):
            return Placed(self.names[near[0]], near[0], self._vocabulary(near[0]), precision)
        vocabulary = self._vocabulary(plain)
        for family, pattern in patterns:
            if pattern.search(plain):
                return Placed(family, None, vocabulary, precision)
        if near is not None:
            return Placed(self.names[near[0]], near[0], vocabulary, precision, guessed=True)
        return Placed(ANYTHING_ELSE, None, vocabulary, precision, guessed=True)

    def _precision(self, name: str) -> str | None:
        return next((precision for precision, pattern in self.precisions if pattern.search(name)), None)

    def _vocabulary(self, name: str) -> str:
        return "pytorch" if name.startswith("aten::") else self.vocabularies.get(name, "kernels")


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile an expression of the table: found anywhere, upper and lower case alike.

    Raises:
        ValueError: it is none.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of what a later Python will read otherwise
            return re.compile(pattern, re.IGNORECASE)
    except (re.error, FutureWarning, RecursionError, OverflowError) as error:
        raise ValueError(f"{pattern!r} is no regular expression ({error})") from None


@lru_cache(maxsize=1)
def op_families() -> OpFamilies:
    """Return the shipped table."""
    text = (resources.files("profet") / "data" / "op_families.toml").read_text(encoding="utf-8")
    return OpFamilies.parse(text)
