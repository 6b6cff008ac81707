"""Which family a model belongs to (VGG, ResNet, ...), from a table of prefixes that anyone can edit."""

import tomllib
from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from profet.errors import InputError
from profet.files import read_bounded

DEFAULT_FAMILY = "small"
_MAX_BYTES = 1024 * 1024


class FamilyTable:
    """Families by prefix of a model's name; the longest prefix wins."""

    def __init__(self, prefixes: dict[str, str]):
        self._prefixes = sorted(prefixes.items(), key=lambda item: -len(item[0]))

    @classmethod
    def load(cls, path: str | Path | None = None) -> "FamilyTable":
        """Read a table, the shipped one unless a path is given.

        Raises:
            InputError: not TOML, or not a table of families with lists of prefixes.
        """
        if path is None:
            text = (resources.files("profet") / "data" / "model_families.toml").read_text(encoding="utf-8")
        else:
            text = read_bounded(path, _MAX_BYTES, "table of model families").decode("utf-8", "replace")
        try:
            families = tomllib.loads(text).get("families")
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}: not TOML ({error})") from None
        if not isinstance(families, dict) or not all(_is_list_of_text(value) for value in families.values()):
            raise InputError(f'{path}: expected [families] with lines such as VGG = ["VGG"]')
        return cls({prefix: family for family, prefixes in families.items() for prefix in prefixes})

    def family(self, model: str) -> str:
        """Return the family of a model; ``"small"`` where no prefix fits."""
        return next((family for prefix, family in self._prefixes if model.startswith(prefix)), DEFAULT_FAMILY)

    def families(self, models: Iterable[str]) -> list[str]:
        """Return the family of each model, in order."""
        known: dict[str, str] = {}
        return [known.setdefault(model, self.family(model)) for model in models]


def _is_list_of_text(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)
