"""Names that are close to each other: instances with a typo, operations nobody has seen."""

from collections.abc import Iterable, Sequence

from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein, Levenshtein


def suggest(name: str, known: Iterable[str], limit: int = 3) -> str:
    """End an error message: the nearest known names, best first, and how many there are in all."""
    names = sorted(set(known))
    if not names:
        return "none is known"
    near = process.extract(name, names, scorer=DamerauLevenshtein.normalized_distance, limit=limit)
    listed = ", ".join(match for match, _, _ in near)
    return f"nearest: {listed}" + (f" ({len(names)} known)" if len(names) > limit else "")


def nearest(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return, for each name, the known name at the smallest Levenshtein distance; the first of equals.

    Raises:
        ValueError: no name is known.
    """
    if not known:
        raise ValueError("no name is known")
    if not names:
        return []
    distances = process.cdist(names, known, scorer=Levenshtein.distance)
    return [known[index] for index in distances.argmin(axis=1)]
