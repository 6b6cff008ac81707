"""Making TVM fast: a default schedule for CPUs, and MetaSchedule with a budget and a stored result."""
