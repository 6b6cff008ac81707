"""From the events of a trace to a profile: steps, launching operations, families, idle time."""
