"""Measuring how long batches of each size take on each unit."""
