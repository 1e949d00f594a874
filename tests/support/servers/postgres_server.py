"""A PostgreSQL server of the tests' own: a private cluster behind a unix socket, and no port."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import psycopg

HOME = Path("/usr/lib/postgresql")
SETTINGS = {
    "listen_addresses": "",
    "wal_level": "logical",
    "fsync": "off",  # the machine is not expected to fail in a test
    "max_connections": "20",
    "shared_buffers": "16MB",
}
# One role needs a password; for the others the folder's owner keeps the socket to itself.
ACCESS = "local all keyed scram-sha-256\nlocal all all trust\n"


def programs() -> Path | None:
    """Where the newest server's programs lie, as Debian installs them, or on the path."""
    found = sorted(HOME.glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    on_path = shutil.which("initdb")
    if found:
        return found[-1].parent
    return Path(on_path).resolve().parent if on_path else None


@dataclass
class Server:
    """A cluster in a temporary folder."""

    bin: Path
    folder: Path
    user: str | None

    @classmethod
    def start(cls, bin_: Path) -> Server:
        folder = Path(tempfile.mkdtemp(prefix="windrow-pg-"))
        # The server refuses to run as root.
        user = _unprivileged() if os.geteuid() == 0 else None
        if user is not None:
            shutil.chown(folder, user)
        made = cls(bin_, folder, user)
        made._run("initdb", "-D", made.data, "-U", "tester", "-E", "UTF8", "--no-sync")
        (folder / "data" / "pg_hba.conf").write_text(ACCESS)
        made.restart()
        with made.connect() as connection:
            connection.execute("CREATE ROLE keyed LOGIN PASSWORD 'right'")
        return made

    @property
    def data(self) -> str:
        return str(self.folder / "data")

    @property
    def url(self) -> str:
        return f"host={self.folder} dbname=postgres user=tester"

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(self.url, autocommit=True)

    def restart(self) -> None:
        """Starts the server, or ends it at once and starts it again."""
        if (self.folder / "data" / "postmaster.pid").exists():
            self._run("pg_ctl", "-D", self.data, "-m", "immediate", "stop")
        given = {**SETTINGS, "unix_socket_directories": str(self.folder)}
        options = " ".join(f"-c {name}='{value}'" for name, value in given.items())
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", self.data, "-w", "-l", log, "-o", options, "start")

    def stop(self) -> None:
        try:
            self._run("pg_ctl", "-D", self.data, "-m", "immediate", "stop")
        finally:
            shutil.rmtree(self.folder)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self.bin / program), *arguments],
            user=self.user,
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
            stdout=subprocess.DEVNULL,
            check=True,
        )


def _unprivileged() -> str:
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"
