"""Colours by what they mean, the same in every picture; told apart by the colour-blind, and by marks in grey print.

The palette is that of Okabe and Ito, "Color Universal Design" (2008).
"""

ORANGE, SKY, GREEN = "#e69f00", "#56b4e9", "#009e73"
BLUE, VERMILION, PURPLE, GREY = "#0072b2", "#d55e00", "#cc79a7", "#999999"

INK = "#222222"
"""Text and what must be seen first."""
MUTED = "#595959"
"""Notes; still 7:1 against white."""
GRID = "#d9d9d9"

MEASURED, PREDICTED, EXTRAPOLATED = "#7f7f7f", BLUE, SKY
COST = ORANGE
EXECUTION, INPUT_OUTPUT = BLUE, ORANGE
RECOMMENDED = VERMILION
ASKED = VERMILION
"""The size or place that a question was about."""
ALONE = GREY
"""One unit by itself, beside a split."""
BAND = "#e3eef6"
"""Ground of a region that is allowed for, such as errors up to 10 %."""

KINDS = {"compute": BLUE, "memory": SKY, "launch": PURPLE, "copy": ORANGE, "idle": "#bbbbbb"}
"""What bounds an op family."""

SERIES = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, GREY)
"""Things of one kind in one picture, such as units or model families, in turn."""
MARKS = "osD^vPX"
"""Marks beside the colours of SERIES, so that each is told apart in grey."""
HATCHES = ("", "///", "...", "\\\\\\", "xxx")
"""Fillings beside colours, where bars stand side by side."""


def series_style(number: int) -> dict[str, str]:
    """Return colour and mark of the n-th thing in a picture, from 0; no two of the first 49 are alike.

    >>> series_style(1)
    {'color': '#e69f00', 'marker': 's'}
    """
    turn, place = divmod(number, len(SERIES))
    return {"color": SERIES[place], "marker": MARKS[(place + turn) % len(MARKS)]}
