"""Latency at a size between two measured ones."""
