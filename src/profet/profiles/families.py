"""Which family an operation belongs to: what kind of work it does, whatever its framework calls it."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any, Self

from profet.names import nearest

IDLE_FAMILY = "idle"
INPUT_FAMILY = "input"


@dataclass(frozen=True)
class OpFamilies:
    """A table from operation names to families; ``data/op_families.toml`` is the shipped one.

    Args:
        kinds: what bounds each family ("compute", "memory", "copy", "launch", "idle" or "host"), in the table's order.
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
        found = {name: self._by_rule(name) for name in operations}
        strangers = [name for name, family in found.items() if family is None]
        relatives = dict(zip(strangers, nearest(strangers, list(self.names)), strict=True))
        return [found[name] or self.names[relatives[name]] for name in operations]

    def guessed(self, operations: Iterable[str]) -> list[str]:
        """Return those operations that no rule knows, so that their family is that of the nearest name."""
        return [name for name in operations if self._by_rule(name) is None]

    def _by_rule(self, operation: str) -> str | None:
        if operation in self.names:
            return self.names[operation]
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
