"""The program on a terminal of its own, as a person sees and types it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from types import TracebackType

from support.command_line import environment

PATIENCE_S = 60.0
ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07|[()][A-Z0-9]|[=>])|\r")


class Terminal:
    """`windrow ...` in a pty; what it has shown is in `shown`, without escape codes."""

    def __init__(self, *arguments: str, folder: Path, columns: int = 80, **more: str) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        known = {**environment(**more), "TERM": "xterm-256color"}
        known.pop("COLUMNS")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "windrow", *arguments],
            cwd=folder,
            env=known,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self._raw = b""

    @property
    def shown(self) -> str:
        return ESCAPES.sub("", self._raw.decode("utf-8", "replace"))

    def wait_for(self, text: str, since: int = 0) -> str:
        """Reads on until the text has been shown."""
        until = time.monotonic() + PATIENCE_S
        while text not in self.shown[since:]:
            assert time.monotonic() < until, self.shown
            assert self._read(0.2) or self._process.poll() is None, self.shown
        return self.shown

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def ended(self) -> int:
        """Its exit code; what it still shows is read."""
        until = time.monotonic() + PATIENCE_S
        while self._process.poll() is None:
            assert time.monotonic() < until, self.shown
            self._read(0.2)
        while self._read(0.1):
            continue
        return self._process.returncode

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            more = os.read(self._master, 65_536)
        except OSError:  # the other end is closed
            return False
        self._raw += more
        return bool(more)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._master)
