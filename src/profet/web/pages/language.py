"""The pages' texts, one file a language, and which language a visitor reads."""

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources

LANGUAGES = {"en": "English", "ko": "한국어"}
"""By code, as each calls itself; the first is taken where a visitor reads none of them."""

DEFAULT = next(iter(LANGUAGES))


class Texts:
    """All texts of the pages in one language.

    Args:
        language: its code.
        strings: by key; what stands in braces is filled in.
    """

    def __init__(self, language: str, strings: Mapping[str, str]):
        self.language = language
        self.strings = strings

    def __call__(self, key: str, **values: object) -> str:
        """Return a text with its values filled in.

        Raises:
            KeyError: there is no such text, or a value is missing.

        >>> texts("en")("scale.at", axis="batch")
        'Size asked about: batch'
        """
        text = self.strings[key]
        return text.format(**values) if values else text

    def known(self, key: str, otherwise: str) -> str:
        """Return a text, or another one where there is none of that key."""
        return self.strings.get(key, otherwise)


@lru_cache(maxsize=len(LANGUAGES))
def texts(language: str) -> Texts:
    """Return the texts of one of LANGUAGES."""
    content = (resources.files("profet.web") / "texts" / f"{language}.toml").read_text(encoding="utf-8")
    return Texts(language, dict(_flat(tomllib.loads(content))))


def _flat(table: Mapping[str, object], before: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in table.items():
        found += _flat(value, f"{before}{name}.") if isinstance(value, Mapping) else [(before + name, str(value))]
    return found


def negotiated(accept: str) -> str:
    """Return the language that a visitor likes best, by the header Accept-Language (RFC 9110, 12.5.4).

    >>> negotiated("ko-KR,ko;q=0.9,en;q=0.8"), negotiated("fr, en;q=0.2, ko;q=0.4"), negotiated("fr")
    ('ko', 'ko', 'en')
    """
    liked: dict[str, float] = {}
    for part in accept.split(",")[:40]:
        name, _, parameter = part.partition(";")
        code = name.strip().lower().partition("-")[0]
        liked.setdefault(code, _quality(parameter))
    known = {code: liked[code] for code in LANGUAGES if liked.get(code, 0.0) > 0}
    return max(known, key=known.__getitem__, default=DEFAULT)


def _quality(parameter: str) -> float:
    name, _, value = parameter.strip().partition("=")
    try:
        return float(value) if name == "q" else 1.0
    except ValueError:
        return 0.0
