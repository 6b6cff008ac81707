"""What a capture says to the person whose loop it runs in: single lines on standard error."""

import sys

from profet.printable import one_line


def tell(text: str) -> None:
    """Print one line; a loop without standard error is not disturbed."""
    if sys.stderr is not None:
        sys.stderr.write(f"profet: {one_line(text)}\n")
        sys.stderr.flush()
