"""Onboards a target, and rehearses it on known ones."""
