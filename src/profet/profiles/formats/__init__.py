"""One reader for each kind of file, and the registry that recognises them by content."""

from profet.profiles.formats.registry import FORMATS, read_document, read_file, read_profile, read_stream
from profet.profiles.reading import Reading, ReadOptions

__all__ = ["FORMATS", "ReadOptions", "Reading", "read_document", "read_file", "read_profile", "read_stream"]
