"""Recordings on disk, as another process left them."""

from pathlib import Path

import msgspec

from profet.capture.recording import RECORDING_FILE, Recording
from profet.errors import InputError
from profet.files import read_bounded

_MOST_BYTES = 64 * 1024 * 1024


def read_recording(folder: Path) -> Recording:
    """Read the recording of a folder.

    Raises:
        InputError: it is none.
    """
    content = read_bounded(folder / RECORDING_FILE, _MOST_BYTES, "recording")
    try:
        return msgspec.json.decode(content, type=Recording)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"the recording of the capture is damaged ({error}); capture again") from None
