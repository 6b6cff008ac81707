"""The examples of docs/how-to/capture.md that are commands; those in Python run with the documentation."""

import re
import subprocess
import sys
from pathlib import Path

from profet import read_profile
from tests.capture.scripts import TRAIN, script
from tests.conftest import REPOSITORY

PAGE = REPOSITORY / "docs" / "how-to" / "capture.md"


def test_the_commands_of_the_page_run_as_they_stand(tmp_path: Path) -> None:
    (block,) = re.findall(r"```sh\n(profet profile.*?)```", PAGE.read_text(), re.DOTALL)
    script(
        tmp_path, "import sys", "assert sys.argv[1:] == ['--epochs', '1']", TRAIN.replace("int(sys.argv[1])", "50")
    )
    path = f"PATH={Path(sys.executable).parent}:$PATH"
    done = subprocess.run(f"set -e\n{path}\n{block}", shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert read_profile(tmp_path / "profile.json").instance == "g4dn.xlarge"
    assert "p3.2xlarge" in done.stdout
