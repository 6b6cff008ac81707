"""How a capture marks in a trace where a step ends and the next begins."""

STEP_END = "profet: a step ends"
