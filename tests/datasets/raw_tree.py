"""A tree of raw captures as PROFET's authors keep them, written file by file."""

import pickle
from pathlib import Path
from typing import Any

NAME = "{0}-{0}-{2}dataset-{1}-SGD-{3}-20210202-1426402021_02_02_14_29_22"
CSV = "Host/device,Type,Operation,Total time (us)\nDevice,Conv2D,a,300\nDevice,Conv2D,b,100\nHost,IDLE,IDLE,80\n"
LATENCIES = [100.0, 112.0, 12.0, [0.5, 0.2, 0.3]]


class Capture:
    """Writes the two files of one run below a folder."""

    def __init__(self, root: Path):
        self.root = root

    def __call__(
        self,
        run: tuple[str, str, str, int, int] = ("exp01", "g3s.xlarge", "AlexNet", 128, 16),
        csv: str | None = CSV,
        latencies: Any = LATENCIES,
        content: bytes | None = None,
    ) -> Path:
        experiment, *rest = run
        folder = self.root / experiment / str(rest[0])
        folder.mkdir(parents=True, exist_ok=True)
        name = NAME.format(*rest)
        if csv is not None:
            (folder / f"{name}.csv").write_text(csv)
        if latencies is not None:
            (folder / f"{name}.pickle").write_bytes(content or pickle.dumps(latencies, protocol=4))
        return folder / f"{name}.pickle"
