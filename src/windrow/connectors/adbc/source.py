"""Rows of any database with a driver of ADBC, polled by a column that only grows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, cast

from windrow.connectors.live import TransientError
from windrow.connectors.loading import loaded_with_client
from windrow.connectors.process_only import ProcessOnlySource
from windrow.connectors.scripted import Scripted
from windrow.errors import BindingError, DataError, Place, WindrowError
from windrow.event_time import span_of

if TYPE_CHECKING:
    from windrow.connectors.live import Guarantee, LiveReader, Position
    from windrow.connectors.options import Options
    from windrow.schema import StreamSchema

__all__ = ["SOURCES", "AdbcSource"]

STARTS = ("earliest", "latest")
_TABLE = re.compile(r"[^\s.;()]+(?:\.[^\s.;()]+)?")
# A driver is a package that somebody has installed, and never a path: what is loaded runs.
_DRIVER = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class AdbcSource(ProcessOnlySource):
    """A table, or a SELECT, whose new rows are asked for again and again.

    driver: 'sqlite', 'postgresql' or another that is installed. position: a column that is larger
    in each new row, a whole number or a text, and tells rows apart.

    >>> AdbcSource("readings", "sqlite", "building.db", "id").shown
    "adbc('readings', driver = 'sqlite', position = 'id')"
    """

    is_live: ClassVar[bool] = True
    guarantee: ClassVar[Guarantee] = "exactly once"

    query: str
    driver: str
    url: str = field(repr=False)  # it may hold a password
    position: str
    every: str = "1 second"
    starting: str = "earliest"
    bounded: bool = False
    place: Place | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        self.every_s()
        if self.starting not in STARTS:
            raise self._wrong("starting", self.starting, "use 'earliest' or 'latest'")
        if not _DRIVER.fullmatch(self.driver):
            hint = "name a driver that is installed, such as 'sqlite': not a path"
            raise self._wrong("driver", self.driver, hint)
        if not self.query.strip() or not self.position:
            hint = "write adbc('readings', driver = 'sqlite', url = '...', position = 'id')"
            raise self._wrong("the table, or the position,", "", hint)

    def every_s(self) -> float:
        """So often new rows are asked for where there were none."""
        try:
            seconds = span_of(self.every) / 1e6
        except WindrowError:
            seconds = -1.0
        if seconds < 0:
            raise self._wrong("every", self.every, "give a span, such as '1 second'")
        return seconds

    @property
    def table(self) -> tuple[str, ...] | None:
        """The parts of its name, where it is a table; None of a SELECT."""
        text = self.query.strip()
        return tuple(text.split(".")) if _TABLE.fullmatch(text) else None

    @property
    def is_endless(self) -> bool:
        """Whether a job waits for rows to come."""
        return not self.bounded

    @property
    def shown(self) -> str:
        """The table, or the beginning of the SELECT."""
        text = " ".join(self.query.split())
        text = text if len(text) <= 40 else f"{text[:39]}…"
        return f"adbc('{text}', driver = '{self.driver}', position = '{self.position}')"

    def check(self, schema: StreamSchema) -> None:
        """Refuses what the database does not answer as rows of the stream, and one that is away.

        Once it runs, a source waits for its database.
        """
        try:
            self.open_live(schema, None).close()
        except TransientError as problem:
            hint = "start the server, correct url=, or check whether it can be reached from here"
            raise DataError("WD879", str(problem), hint=hint, place=self.place) from None

    def open_live(self, schema: StreamSchema, position: Position | None) -> LiveReader:
        """A reader with a connection of its own."""
        reader = loaded_with_client("adbc.polling", "ADBC", "adbc")
        return cast("LiveReader", reader.AdbcReader(self, schema, position))

    def _wrong(self, name: str, value: str, hint: str) -> BindingError:
        message = f"{name} cannot be {value!r} for ADBC"
        return BindingError("WB879", message, hint=hint, place=self.place)


def _described(options: Options) -> AdbcSource:
    return AdbcSource(
        options.text("query"),
        options.text("driver"),
        options.text("url"),
        options.text("position"),
        options.text("every", "1 second"),
        options.one_of("starting", STARTS),
        options.flag("bounded", False),
        options.place,
    )


_OPTIONS = ("query", "driver", "url", "position", "every", "starting", "bounded")
SOURCES = {"adbc": Scripted(_OPTIONS, _described)}
