"""Runs a split batch: one process per unit, shared memory, schedules that survive a unit's failure."""
