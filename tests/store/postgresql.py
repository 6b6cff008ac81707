"""A PostgreSQL server of the tests' own: Debian's programs, a folder of its own, a socket in it and no network."""

import os
import pwd
import shutil
import subprocess
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

import psutil

PROGRAMS = Path("/usr/lib/postgresql")
OWNER = "profet"


def programs() -> Path | None:
    """The folder with the newest server's programs; None where there is none."""
    found = [path.parent for path in PROGRAMS.glob("*/bin/initdb")]
    return max(found, key=lambda folder: int(folder.parent.name), default=None)


class Server:
    """A running server; it is started as another user where the tests are root's, whom it refuses."""

    def __init__(self, folder_of_programs: Path):
        self._programs = folder_of_programs
        self.folder = Path(tempfile.mkdtemp(prefix="profet-pg-", dir="/tmp"))
        self._user: dict[str, Any] = {}
        if os.geteuid() == 0:
            user = pwd.getpwnam("nobody")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self._user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self._numbers = count(1)
        self._run("initdb", "--no-sync", "--no-locale", "-E", "UTF8", "-A", "trust", "-U", OWNER, "-D", self._data)
        self.start()

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self._programs / program), *map(str, arguments)]
        log = subprocess.DEVNULL if program == "pg_ctl" else subprocess.PIPE  # the server would hold a pipe open
        subprocess.run(command, check=True, cwd=self.folder, stdout=log, stderr=log, timeout=60, **self._user)

    def start(self) -> None:
        """Start, and wait until it answers."""
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off -c max_connections=60"
        self._run("pg_ctl", "-D", self._data, "-w", "-o", options, "-l", self.folder / "log", "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop; in the mode immediate as if it had been killed."""
        self._run("pg_ctl", "-D", self._data, "-w", "-m", mode, "stop")

    def hang(self) -> None:
        """Stop all of its processes where they are: connections stay open, and nothing is answered."""
        for process in self._processes():
            process.suspend()

    def go_on(self) -> None:
        """Let them go on."""
        for process in self._processes():
            process.resume()

    def _processes(self) -> list[psutil.Process]:
        postmaster = psutil.Process(int((self._data / "postmaster.pid").read_text().split()[0]))
        return [postmaster, *postmaster.children()]

    def remove(self) -> None:
        """Stop, and leave nothing behind."""
        self.stop("immediate")
        shutil.rmtree(self.folder)

    def sql(self, database: str, text: str) -> None:
        """Run statements in a database."""
        self._run("psql", "-q", "-h", self.folder, "-U", OWNER, "-v", "ON_ERROR_STOP=1", "-d", database, "-c", text)

    def new_database(self, options: str = "") -> str:
        """Make an empty database; return its URL."""
        name = f"test{next(self._numbers)}"
        self.sql("postgres", f"CREATE DATABASE {name} {options}")
        return f"postgresql://{OWNER}@/{name}?host={self.folder}"
