"""Text that is safe to show: on one line, without characters that move the terminal's cursor."""


def one_line(text: str) -> str:
    r"""Return text with a space for every character that cannot be printed.

    >>> one_line("a\nb")
    'a b'
    """
    return "".join(character if character.isprintable() else " " for character in text)
