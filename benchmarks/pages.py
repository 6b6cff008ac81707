"""Writes what a benchmark measured between the two marks of a page in docs/."""

from pathlib import Path

from profet.files import write_whole


def write_between_marks(path: Path, command: str, tables: str) -> None:
    """Replace what stands between a page's marks of a command, such as "make accuracy".

    Raises:
        SystemExit: the page has no such marks.
    """
    begin, end = f"<!-- begin: {command} -->\n", f"<!-- end: {command} -->\n"
    page = path.read_text(encoding="utf-8")
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"{path}: has no lines {begin.strip()} and {end.strip()}")
    write_whole(path, f"{before}{begin}\n{tables}\n{end}{after}".encode(), force=True)
