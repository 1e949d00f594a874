"""Lines that others send to this process: over TCP, UDP, a socket of this machine, or stdin."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from windrow.connectors.contract import Source
from windrow.connectors.counts import check_count
from windrow.connectors.live import Guarantee, LiveReader, Position
from windrow.connectors.loading import loaded
from windrow.connectors.record_cutter import FRAMINGS, Framing, RecordCutter
from windrow.connectors.scripted import Scripted
from windrow.errors import BindingError, Place, UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from windrow.connectors.options import Options
    from windrow.schema import StreamSchema

__all__ = ["SOURCES", "Listening", "Stdin", "check_words"]

SENT_FORMATS = ("jsonl", "csv")
LARGEST_PORT = 65_535
THIS_MACHINE = "127.0.0.1"


@dataclass(frozen=True)
class SentLines(Source):
    """What is sent as lines, and is gone once it was read."""

    is_endless: ClassVar[bool] = True
    is_text: ClassVar[bool] = True

    @property
    def is_live(self) -> bool:
        """In this process alone."""
        return True

    @property
    def guarantee(self) -> Guarantee:
        """What was on its way in a crash does not come again."""
        return "at most once"

    def read_on_spark(self, spark: SparkSession, schema: StreamSchema) -> DataFrame:
        """Refused: executors cannot take what is sent to one process."""
        raise self._not_on_spark()

    def check_on_spark(self, schema: StreamSchema) -> None:
        """Refused before Spark is started."""
        raise self._not_on_spark()

    def _not_on_spark(self) -> UnsupportedError:
        return UnsupportedError(
            "WU507",
            f"on Spark nothing can be read from {self.shown}",
            hint="run the script in this process, with --embedded; or read from Kafka or files",
            place=self.place,
        )


@dataclass(frozen=True)
class Listening(SentLines):
    """A server of ours; kind: 'tcp', 'udp' or 'unix'. target: its host, or a path.

    >>> Listening("tcp", "127.0.0.1", 9000).shown
    "tcp(9000, host = '127.0.0.1')"
    """

    kind: str
    target: str
    port: int = 0
    format: str = "jsonl"
    framing: Framing = "lines"
    place: Place | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.kind != "unix":
            check_count("port", self.port, LARGEST_PORT)
        check_words(self.kind, self.format, self.framing, self.place)

    @property
    def shown(self) -> str:
        """Where it listens."""
        if self.kind == "unix":
            return f"unix('{self.target}')"
        return f"{self.kind}({self.port}, host = '{self.target}')"

    def open_live(self, schema: StreamSchema, position: Position | None) -> LiveReader:
        """Listens from now on."""
        reading = loaded("socket_reader")
        lines = loaded("line_rows").LineRows(schema, self, self.format)
        if self.kind == "udp":
            receiver = reading.listening_on_port(self.target, self.port, socket.SOCK_DGRAM)
            return cast("LiveReader", reading.Datagrams(lines, receiver, self.shown))
        cutter = partial(RecordCutter, self.framing, self.format)
        path = None
        if self.kind == "unix":
            path = Path(self.target)
            server = reading.listening_on_path(path)
        else:
            server = reading.listening_on_port(self.target, self.port, socket.SOCK_STREAM)
        made = reading.Senders(lines, cutter, server=server, name=self.shown, path=path)
        return cast("LiveReader", made)


@dataclass(frozen=True)
class Stdin(SentLines):
    """What is piped into this process, until its end.

    >>> Stdin("csv", header=False).shown
    "stdin('csv')"
    """

    is_endless: ClassVar[bool] = False

    format: str = "jsonl"
    header: bool = True
    delimiter: str = ","
    place: Place | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_words("stdin", self.format, "lines", self.place)

    @property
    def shown(self) -> str:
        """With its format."""
        return f"stdin('{self.format}')"

    def open_live(self, schema: StreamSchema, position: Position | None) -> LiveReader:
        """Reads on from where it is."""
        return cast("LiveReader", loaded("stdin_reader").StdinReader(schema, self))


def check_words(kind: str, form: str, framing: str, place: Place | None) -> None:
    """Refuse words that mean nothing."""
    for word, value, known in (("format", form, SENT_FORMATS), ("framing", framing, FRAMINGS)):
        if value not in known:
            raise BindingError(
                "WB772",
                f"{word} of {kind}() cannot be {value!r}",
                hint=f"use {' or '.join(map(repr, known))}",
                place=place,
            )


def _port(kind: str, options: Options) -> Listening:
    framing = "lines" if kind == "udp" else options.one_of("framing", FRAMINGS)
    words = (options.one_of("format", SENT_FORMATS), cast("Framing", framing))
    host = options.text("host", THIS_MACHINE)
    return Listening(kind, host, options.needed_count("port"), *words, options.place)


def _path(options: Options) -> Listening:
    words = (options.one_of("format", SENT_FORMATS), options.one_of("framing", FRAMINGS))
    form, framing = words[0], cast("Framing", words[1])
    return Listening("unix", options.text("path"), 0, form, framing, options.place)


def _stdin(options: Options) -> Stdin:
    header = options.flag("header", True)
    form = options.one_of("format", SENT_FORMATS)
    return Stdin(form, header, options.text("delimiter", ","), options.place)


SOURCES = {
    "tcp": Scripted(("port", "host", "format", "framing"), partial(_port, "tcp")),
    "udp": Scripted(("port", "host", "format"), partial(_port, "udp")),
    "unix": Scripted(("path", "format", "framing"), _path),
    "stdin": Scripted(("format", "header", "delimiter"), _stdin),
}
