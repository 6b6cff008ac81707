"""One capture in the process that trains: from its options to the profile on disk."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from profet.capture.capturing import Capturing, Stages
from profet.capture.destination import Captured, Destination
from profet.capture.messages import tell
from profet.capture.options import CaptureOptions, plan_of
from profet.capture.recording import Recording


class Session:
    """Writes the profile once it is captured and tells so in one line; what goes wrong is told the same way.

    Args:
        path: where the profile goes.
        options: what the person who captures says.

    Attributes:
        plan: which steps go to what.
        captured: the profile, once it is there.

    Raises:
        OutputError: the profile could not be written there.
        InputError: a number that cannot be.
    """

    def __init__(self, path: str | Path, options: CaptureOptions) -> None:
        self.plan = plan_of(options)
        self.captured: Captured | None = None
        self._destination = Destination(
            path,
            options.get("instance"),
            options.get("batch_size"),
            options.get("pixels"),
            options.get("force", False),
        )
        self._folder: TemporaryDirectory[str] | None = None

    def capturing(self, stages: Callable[[Path], Stages], warmed_up: bool = False) -> Capturing:
        """Begin to capture; stages is given the folder for its trace."""
        self.close()
        self._folder = TemporaryDirectory(prefix="profet-")
        folder = Path(self._folder.name)
        finish = partial(self._finish, folder=folder)
        return Capturing(self.plan, stages(folder), finish, self.fail, warmed_up)

    def fail(self, problem: str) -> None:
        """Say why there will be no profile."""
        tell(f"{self._destination.path}: not written: {problem}")

    def close(self) -> None:
        """Remove what was left for the profile to be made of."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _finish(self, recording: Recording, folder: Path) -> None:
        self.captured = self._destination.save(recording, folder)
        for line in self.captured.lines(self._destination.path):
            tell(line)
