"""Which family an operation belongs to: what kind of work it does, whatever its framework calls it."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any, Self

from rapidfuzz.distance import Levenshtein

from profet.names import nearest

IDLE_FAMILY = "idle"
INPUT_FAMILY = "input"

_MISSPELT = 0.15
"""A name that differs from a known one in less than this share of its letters is taken for it."""


@dataclass(frozen=True)
class OpFamilies:
    """A table from operation names to families; ``data/op_families.toml`` is the shipped one.

    Args:
        kinds: what bounds each family, such as "compute" or "memory", in the table's order.
        names: family by exact operation name.
        vocabularies: which framework's vocabulary an exact name belongs to.
        patterns: family and regular expression, in the order in which they are tried.
        precisions: name of a reduced precision and the expression that kernel names show it by.
    """

    kinds: dict[str, str]
    names: dict[str, str]
    vocabularies: dict[str, str]
    patterns: tuple[tuple[str, str], ...]
    precisions: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a table.

        Raises:
            ValueError: not TOML, a family without a kind, or an expression that is none.
        """
        table: dict[str, Any] = tomllib.loads(text)
        names, vocabularies = {}, {}
        for vocabulary, families in table["names"].items():
            for family, known in families.items():
                names.update(dict.fromkeys(known, family))
                vocabularies.update(dict.fromkeys(known, vocabulary))
        patterns = tuple((rule["family"], rule["pattern"]) for rule in table["patterns"])
        precisions = tuple((rule["name"], rule["pattern"]) for rule in table["precisions"])
        strangers = {*names.values(), *(family for family, _ in patterns)} - set(table["kinds"])
        if strangers:
            raise ValueError(f"families without a kind: {', '.join(sorted(strangers))}")
        return cls(table["kinds"], names, vocabularies, patterns, precisions)

    @cached_property
    def device(self) -> tuple[str, ...]:
        """Families that keep a device busy, in the table's order."""
        return tuple(family for family, kind in self.kinds.items() if kind not in {"idle", "host"})

    @cached_property
    def _compiled(self) -> list[tuple[str, re.Pattern[str]]]:
        return [(family, re.compile(pattern, re.IGNORECASE)) for family, pattern in self.patterns]

    def families(self, operations: Sequence[str]) -> list[str]:
        """Return the family of each operation; for a name without a rule, that of the nearest known name."""
        relatives = self.relatives(operations)
        known = (relatives.get(name, name) for name in operations)
        return [self.names.get(name) or str(self._by_pattern(name)) for name in known]

    def relatives(self, operations: Sequence[str]) -> dict[str, str]:
        """Return the known name that each operation was taken for, where it is not known itself.

        That is so where the two differ by a few letters, and where no pattern knows the operation.
        """
        strangers = [name for name in dict.fromkeys(operations) if name not in self.names]
        near = zip(strangers, nearest(strangers, list(self.names)), strict=True)
        return {
            name: known
            for name, known in near
            if Levenshtein.distance(name, known) <= _MISSPELT * len(name) or self._by_pattern(name) is None
        }

    def _by_pattern(self, operation: str) -> str | None:
        return next((family for family, pattern in self._compiled if pattern.search(operation)), None)

    def vocabulary(self, operation: str) -> str:
        """Return whose word an operation is ("tensorflow", "pytorch", "xla"), "kernels" for anything else."""
        if operation.startswith("aten::"):
            return "pytorch"
        return self.vocabularies.get(operation, "kernels")

    def precision(self, operation: str) -> str | None:
        """Return the reduced precision that a kernel's name shows, such as "half" or "tf32"; None for none."""
        for name, pattern in self.precisions:
            if re.search(pattern, operation, re.IGNORECASE):
                return name
        return None


@lru_cache(maxsize=1)
def op_families() -> OpFamilies:
    """Return the shipped table."""
    text = (resources.files("profet") / "data" / "op_families.toml").read_text(encoding="utf-8")
    return OpFamilies.parse(text)
