"""Capturing a profile of a script that is not changed: what runs in its process, and what starts it."""
