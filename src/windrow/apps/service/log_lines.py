"""The log of a service on stderr: one line an entry, as text or as JSON, without its secrets."""

from __future__ import annotations

import json
import logging
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

__all__ = ["logging_to"]

HIDDEN = "***"
# What every record has; anything else was given with `extra` and is shown.
_USUAL = {*vars(logging.makeLogRecord({})), "message", "asctime", "color_message"}


@contextmanager
def logging_to(
    level: str, form: str, secrets: tuple[str, ...] = (), stream: TextIO | None = None
) -> Iterator[None]:
    """Within it all that is logged goes to stderr, or to the stream; afterwards as before."""
    handler = logging.StreamHandler(stream or sys.stderr)
    lines = _JsonLines(secrets) if form == "json" else _TextLines(secrets)
    handler.setFormatter(lines)
    root = logging.getLogger()
    level_before, handlers_before = root.level, root.handlers[:]
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.setLevel(level_before)
        root.handlers[:] = handlers_before


class _Lines(logging.Formatter, ABC):
    """Leaves out what must not be read by those who read logs."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        super().__init__()
        self._secrets = [each for each in secrets if each]

    def format(self, record: logging.LogRecord) -> str:
        text = self.written(record)
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return text

    @abstractmethod
    def written(self, record: logging.LogRecord) -> str:
        """The entry in its form, secrets and all."""

    @staticmethod
    def facts(record: logging.LogRecord) -> dict[str, object]:
        return {name: value for name, value in vars(record).items() if name not in _USUAL}

    @staticmethod
    def at(record: logging.LogRecord) -> str:
        """When, in UTC."""
        whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        return f"{whole}.{int(record.msecs):03d}Z"


class _JsonLines(_Lines):
    def written(self, record: logging.LogRecord) -> str:
        entry: dict[str, object] = {
            "at": self.at(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **self.facts(record),
        }
        if record.exc_info:
            entry["trace"] = self.formatException(record.exc_info)
        return json.dumps(entry, default=str)


class _TextLines(_Lines):
    def written(self, record: logging.LogRecord) -> str:
        facts = "".join(f" {name}={value}" for name, value in self.facts(record).items())
        message = record.getMessage().replace("\n", " / ")
        line = f"{self.at(record)} {record.levelname.lower():7} {record.name}: {message}{facts}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line
