"""Rows of PostgreSQL, polled by a column that only grows, described as a source."""

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

__all__ = ["SOURCES", "PostgresSource"]

STARTS = ("earliest", "latest")
_TABLE = re.compile(r"[^\s.;()]+(?:\.[^\s.;()]+)?")


@dataclass(frozen=True)
class PostgresSource(ProcessOnlySource):
    """A table, or a SELECT, whose new rows are asked for again and again.

    position: a column that new rows have larger, such as a number from a sequence. overlap: how far
    behind the largest that was read rows may still come: '10 seconds', or a number.

    >>> PostgresSource("readings", "dbname=building", "id").shown
    "postgres('readings', position = 'id')"
    """

    is_live: ClassVar[bool] = True
    guarantee: ClassVar[Guarantee] = "exactly once"

    query: str
    url: str = field(repr=False)  # it may hold a password
    position: str
    every: str = "1 second"
    overlap: str = "0"
    starting: str = "earliest"
    bounded: bool = False
    place: Place | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        self.every_s()
        self.overlap_parts()
        if self.starting not in STARTS:
            raise self._wrong("starting", self.starting, "use 'earliest' or 'latest'")
        if not self.query.strip() or not self.position:
            raise BindingError(
                "WB876",
                "a source of PostgreSQL needs a table or a SELECT, and the column of its position",
                hint="write postgres('readings', url = '...', position = 'id')",
                place=self.place,
            )

    def every_s(self) -> float:
        """So often new rows are asked for where there were none."""
        try:
            seconds = span_of(self.every) / 1e6
        except WindrowError:
            seconds = -1.0
        if seconds < 0:
            raise self._wrong("every", self.every, "give a span, such as '1 second'")
        return seconds

    def overlap_parts(self) -> tuple[str, str]:
        """The text that PostgreSQL reads, and the type that it has there: a number or a span."""
        if re.fullmatch(r"\d+", self.overlap.strip()):
            return self.overlap.strip(), "numeric"
        try:
            return f"{span_of(self.overlap)} microseconds", "interval"
        except WindrowError:
            hint = "give a number, or a span such as '10 seconds'"
            raise self._wrong("overlap", self.overlap, hint) from None

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
        return f"postgres('{text}', position = '{self.position}')"

    def check(self, schema: StreamSchema) -> None:
        """Refuses what PostgreSQL does not answer as rows of the stream, and a server that is away.

        Once it runs, a source waits for its server.
        """
        try:
            self.open_live(schema, None).close()
        except TransientError as problem:
            hint = "start the server, correct url=, or check whether it can be reached from here"
            raise DataError("WD876", str(problem), hint=hint, place=self.place) from None

    def open_live(self, schema: StreamSchema, position: Position | None) -> LiveReader:
        """A reader with a connection of its own."""
        reader = loaded_with_client("postgres.polling", "PostgreSQL", "postgres")
        return cast("LiveReader", reader.PostgresReader(self, schema, position))

    def _wrong(self, name: str, value: str, hint: str) -> BindingError:
        message = f"{name} cannot be {value!r} for PostgreSQL"
        return BindingError("WB877", message, hint=hint, place=self.place)


def _described(options: Options) -> PostgresSource:
    return PostgresSource(
        options.text("query"),
        options.text("url"),
        options.text("position"),
        options.text("every", "1 second"),
        options.text("overlap", "0"),
        options.one_of("starting", STARTS),
        options.flag("bounded", False),
        options.place,
    )


_OPTIONS = ("query", "url", "position", "every", "overlap", "starting", "bounded")
SOURCES = {"postgres": Scripted(_OPTIONS, _described)}
