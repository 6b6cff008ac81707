"""One reader for each kind of file, and the registry that recognises them by content."""

from profet.profiles.formats.registry import FORMATS, read_file, read_profile
from profet.profiles.reading import Reading, ReadOptions

__all__ = ["FORMATS", "ReadOptions", "Reading", "read_file", "read_profile"]
