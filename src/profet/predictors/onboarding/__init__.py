"""A new target from a few measured workloads."""
