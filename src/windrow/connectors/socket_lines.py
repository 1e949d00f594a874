"""Lines of text that a server sends: in this process, or on Spark to try a query out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from windrow.connectors.contract import Source
from windrow.connectors.counts import check_count
from windrow.connectors.live import Guarantee, LiveReader, Position
from windrow.connectors.loading import loaded
from windrow.connectors.record_cutter import RecordCutter
from windrow.connectors.scripted import Scripted
from windrow.errors import BindingError, Place

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from windrow.connectors.options import Options
    from windrow.schema import StreamSchema

__all__ = ["SOURCES", "Socket"]

SOCKET_FORMATS = ("jsonl", "csv")
LARGEST_PORT = 65_535


@dataclass(frozen=True)
class Socket(Source):
    """Lines of text from a server: a JSON object or comma-separated values each.

    >>> Socket("localhost", 9999).format
    'jsonl'
    """

    is_endless: ClassVar[bool] = True

    host: str
    port: int
    format: str = "jsonl"
    place: Place | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_count("port", self.port, LARGEST_PORT)
        if self.format not in SOCKET_FORMATS:
            raise BindingError(
                "WB440",
                f"lines of a socket cannot be read as {self.format!r}",
                hint=f"use {' or '.join(map(repr, SOCKET_FORMATS))}",
                place=self.place,
            )

    is_text: ClassVar[bool] = True

    @property
    def is_live(self) -> bool:
        """In this process, for as long as the server sends; it is connected to again."""
        return True

    @property
    def guarantee(self) -> Guarantee:
        """What was on its way in a crash does not come again."""
        return "at most once"

    def open_live(self, schema: StreamSchema, position: Position | None) -> LiveReader:
        """Connects to the server."""
        reading = loaded("socket_reader")
        lines = loaded("line_rows").LineRows(schema, self, self.format)
        cutter = partial(RecordCutter, "lines", self.format)
        client = reading.connected(self.host, self.port)
        made = reading.OneSender(lines, cutter, client=client, name=self.shown)
        return cast("LiveReader", made)

    @property
    def shown(self) -> str:
        """The server."""
        return f"socket('{self.host}', port = {self.port})"

    def read_on_spark(self, spark: SparkSession, schema: StreamSchema) -> DataFrame:
        """Lines of Spark's own source of that name, as rows."""
        reader = spark.readStream.format("socket").option("host", self.host)
        lines = reader.option("port", self.port).load()
        return cast("DataFrame", loaded("spark_text").rows_of_lines(lines, schema, self.format))


def _described(options: Options) -> Socket:
    port = options.needed_count("port")
    words = options.one_of("format", SOCKET_FORMATS)
    return Socket(options.text("host"), port, words, options.place)


SOURCES = {"socket": Scripted(("host", "port", "format"), _described)}
