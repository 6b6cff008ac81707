"""Messages of the library on a page: options become the form's fields, and sentences the visitor's language."""

import logging
import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from profet.errors import BundleError, OutputError, ProfetError
from profet.web.pages.language import DEFAULT, Texts

_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)")
_COMMAND = re.compile(r"(\bprofet [a-z][^;:()]*)")
_FIELD = "field."
_LONGEST = 4000
_log = logging.getLogger("profet.web")


@dataclass(frozen=True)
class Message:
    """A message as it is shown; its language is that of the library where the page's has no words for it."""

    text: str
    language: str


def told(message: str, texts: Texts) -> Message:
    """Return a message in the language of the texts, where they hold one like it."""
    words = _words(texts.language)
    for pattern, text in words.sentences:
        match = pattern.fullmatch(message[:_LONGEST])
        if match is not None:
            found = [words.phrased(group or "") for group in match.groups()]
            return Message(_named(text.format(*found), texts), texts.language)
    return Message(_named(message, texts), DEFAULT)


def told_to_visitors(error: ProfetError) -> str:
    """Return what an error says; of the service's own troubles only that there are some."""
    if isinstance(error, BundleError):
        _log.error("%s", error)
        return "the service's predictors cannot be used; whoever runs it finds why in its log"
    if isinstance(error, OutputError):
        _log.error("%s", error)
        return "what was recorded cannot be reached or written now; try again"
    return str(error)


def _named(message: str, texts: Texts) -> str:
    """Call options of the command line by the labels of their fields, but not within commands to type."""
    parts = _COMMAND.split(message)
    return "".join(part if number % 2 else _labelled(part, texts) for number, part in enumerate(parts))


def _labelled(text: str, texts: Texts) -> str:
    return _OPTION.sub(lambda match: f"“{texts.known(_FIELD + match[1].replace('-', '_'), match[1])}”", text)


@dataclass(frozen=True)
class _Words:
    """What sentences of the library look like, and parts of them, each with its words in a language."""

    sentences: tuple[tuple[re.Pattern[str], str], ...] = ()
    phrases: tuple[tuple[re.Pattern[str], str], ...] = ()

    def phrased(self, text: str) -> str:
        """Return a part of a sentence in the language."""
        for pattern, words in self.phrases:
            text = pattern.sub(lambda match, words=words: words.format(*match.groups()), text)  # type: ignore[misc]
        return text


@lru_cache(maxsize=4)
def _words(language: str) -> _Words:
    """Return the words of a language; none where the library speaks it."""
    if language == DEFAULT:
        return _Words()
    content = (resources.files("profet.web") / "texts" / f"messages.{language}.toml").read_text(encoding="utf-8")
    read = tomllib.loads(content)
    sentences, phrases = (
        tuple((re.compile(each["pattern"]), each["text"]) for each in read[kind]) for kind in ("message", "phrase")
    )
    return _Words(sentences, phrases)
