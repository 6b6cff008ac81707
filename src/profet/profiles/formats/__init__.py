"""One reader for each kind of file, and the registry that recognises them by content."""

from profet.profiles.formats.options import ReadOptions
from profet.profiles.formats.registry import FORMATS, read_profile

__all__ = ["FORMATS", "ReadOptions", "read_profile"]
