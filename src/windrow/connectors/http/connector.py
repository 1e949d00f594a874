"""http(): rows that programs send to POST /api/v1/streams/{name}/rows of `windrow serve`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from windrow.connectors.contract import Source
from windrow.connectors.http.inbox import Inbox
from windrow.connectors.live import Lag, LiveReader, Polled, Position
from windrow.connectors.scripted import Scripted
from windrow.errors import Place, UnsupportedError, WindrowError
from windrow.memory_size import memory_of
from windrow.rows.file_rows import FileRows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from windrow.connectors.live import Guarantee
    from windrow.connectors.options import Options
    from windrow.schema import StreamSchema

__all__ = ["SOURCES", "WAITING", "HttpReader", "HttpSource"]

# Rows of requests that wait until they are kept have so much room, by default.
WAITING = "32 MB"
# While a request waits to hear that its rows are kept, the reader looks so often.
LOOK_S = 0.005


@dataclass(frozen=True)
class HttpSource(Source):
    """Rows by POST; waiting: bytes of rows that may wait until they are kept.

    >>> HttpSource("1 MB").shown
    "http(waiting = '1 MB')"
    """

    in_process: ClassVar[bool] = True
    is_endless: ClassVar[bool] = True
    is_text: ClassVar[bool] = True  # of what it says about bad rows

    waiting: str = WAITING
    place: Place | None = field(default=None, compare=False)
    inbox: Inbox = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "inbox", Inbox(memory_of(self.waiting)))

    @property
    def shown(self) -> str:
        """As a script has it."""
        return "http()" if self.waiting == WAITING else f"http(waiting = '{self.waiting}')"

    @property
    def is_live(self) -> bool:
        """For as long as the service runs."""
        return True

    @property
    def guarantee(self) -> Guarantee:
        """Once where producers number what they send; else a request may be sent again."""
        return "at least once"

    def check(self, schema: StreamSchema) -> None:
        """Refused where no server offers rows."""
        if not self.inbox.is_served:
            raise self._not_served(schema.name)

    def check_on_spark(self, schema: StreamSchema) -> None:
        """Refused: the server is in the process that applies the rows."""
        raise self._not_served(schema.name)

    def read_on_spark(self, spark: SparkSession, schema: StreamSchema) -> DataFrame:
        """The same."""
        raise self._not_served(schema.name)

    def _not_served(self, stream: str) -> UnsupportedError:
        return UnsupportedError(
            "WU515",
            f"nobody can send rows to stream {stream!r} here: http() is for windrow serve",
            hint="run the script with windrow serve, or name another source",
            place=self.place,
        )

    def open_live(self, schema: StreamSchema, position: Position | None) -> LiveReader:
        """Requests are taken from now on."""
        return HttpReader(self.inbox, schema, position)


class HttpReader(LiveReader):
    """Gives the loop what requests have offered."""

    def __init__(self, inbox: Inbox, schema: StreamSchema, position: Position | None) -> None:
        self._inbox, self._schema = inbox, schema
        inbox.open(position)

    def poll(self, most_rows: int, timeout_s: float) -> Polled | None:
        """What waits, or what comes within the time."""
        waits_s = LOOK_S if self._inbox.has_unconfirmed else timeout_s
        taken = self._inbox.take(most_rows, min(waits_s, timeout_s))
        if taken is None:
            return None
        batches, position = taken
        rows = pa.Table.from_batches([each.rows.batch for each in batches]).combine_chunks()
        (whole, *_) = rows.to_batches() or [batches[0].rows.batch]
        bad = tuple(row for each in batches for row in each.rows.bad)
        return Polled(FileRows(whole, bad), position, Lag(0, "rows"))

    def rejected(self, position: Position, why: WindrowError) -> None:
        """Those who sent the rows hear of it."""
        self._inbox.refuse(position["batches"], why)

    def confirmed(self, position: Position) -> None:
        """Those who sent the rows may know."""
        self._inbox.confirm(position["batches"])

    def close(self) -> None:
        """Requests are refused from now on."""
        self._inbox.close()


def _described(options: Options) -> HttpSource:
    return HttpSource(options.text("waiting", WAITING), options.place)


SOURCES = {"http": Scripted(("waiting",), _described)}
