"""From what a capture recorded to a profile."""

from profet.capture.composing.profile import compose
from profet.capture.composing.recordings import read_recording

__all__ = ["compose", "read_recording"]
