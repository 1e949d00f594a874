"""What a source, a sink and a writer are to those who run queries; these know no system by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, runtime_checkable

import pyarrow as pa

from windrow.connectors.loading import loaded
from windrow.errors import DataError, Place, UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from windrow.connectors.live import Guarantee, LiveReader, Position
    from windrow.connectors.process_run import ProcessRun
    from windrow.plan.model import QueryPlan
    from windrow.rows.file_rows import FileRows
    from windrow.schema import StreamSchema
    from windrow.table_schema import TableSchema

__all__ = [
    "DAMAGE",
    "OPERATION",
    "ORDER",
    "HeldFeeds",
    "Replay",
    "Sink",
    "SinkCheckpoint",
    "Source",
    "Writer",
    "not_read_here",
    "not_written_here",
    "question_not_written",
    "table_not_read",
]

# A column of a source on Spark: the text of a row that could not be read, else NULL.
DAMAGE = "__windrow_damage__"
# Another one: texts by whose order parts of files follow each other, where a table is read.
ORDER = "__windrow_order__"
# One more: what became of a row of a table, where a source says it beside the row.
OPERATION = "__windrow_operation__"

# What becomes of a batch that comes again after a restart: the sink knows it and leaves it out, it
# takes the place of what it was, or it is written once more, with the same id.
Replay = Literal["known", "replaced", "repeated"]


@runtime_checkable
class Source(Protocol):
    """Where the rows of a stream come from: a frozen dataclass, which opens nothing by itself.

    in_process: whether a job in this process can read it.
    """

    in_process: ClassVar[bool] = False

    @property
    def place(self) -> Place | None:
        """Where a script names it."""

    @property
    def is_endless(self) -> bool:
        """Whether more rows arrive after those that are there when a job begins."""

    @property
    def shown(self) -> str:
        """As a script would write it, without secrets."""

    @property
    def address(self) -> str:
        """The servers that it is read from, to be named when they do not answer."""
        return ""

    def check(self, schema: StreamSchema) -> None:
        """Refuses, before a job in this process begins, what cannot be read."""
        return

    def read(self, schema: StreamSchema) -> Iterator[tuple[FileRows, float]]:
        """The rows in this process, each batch with the part of all that is then read."""
        raise not_read_here(schema.name, self)

    @property
    def is_live(self) -> bool:
        """Whether it is read in this process for as long as a session runs: see live.py."""
        return False

    @property
    def guarantee(self) -> Guarantee:
        """How often a row counts after a crash, in a session with a path."""
        return "exactly once"

    def open_live(self, schema: StreamSchema, position: Position | None) -> LiveReader:
        """A reader that goes on behind a position; None: from the beginning."""
        reader: LiveReader = loaded("finite_reader").FiniteReader(self, schema, position)
        return reader

    def fault(self, schema: StreamSchema) -> DataError | None:
        """After a failure on Spark the first value that is no row's, named with its place."""
        return None

    def check_on_spark(self, schema: StreamSchema) -> None:
        """Refuses, before Spark is started, what cannot be read."""
        return

    def check_reached(self) -> None:
        """Refuses, before a query starts on Spark, servers that do not answer."""
        return

    def read_on_spark(self, spark: SparkSession, schema: StreamSchema) -> DataFrame:
        """A streaming DataFrame with the columns of the stream, and DAMAGE where that is wanted."""

    def read_table_on_spark(
        self, spark: SparkSession, schema: TableSchema
    ) -> tuple[DataFrame, str | None]:
        """The same of a table, perhaps with ORDER and OPERATION; and the format of a changelog.

        A changelog has the columns key and value, or value alone, instead of the table's.
        """
        return self.read_on_spark(spark, schema), None


class Writer(Protocol):
    """Takes the feeds that it asks for, batch by batch, perhaps one batch twice."""

    feeds: tuple[str, ...]  # of 'answers', 'changes' and 'result'

    def begin(self, last_batch: int, owner: str) -> None:
        """The query is about to start; last_batch: the newest that was begun, -1 before the first.

        owner: where the checkpoint of the query is.
        """
        return

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Writes one batch; tables by feed."""

    @property
    def held(self) -> HeldFeeds | None:
        """What it holds until somebody takes it; None where it writes."""
        return None

    def close(self) -> None:
        """The query has stopped: connections are closed, and opened again if it is restarted."""
        return


class HeldFeeds(Protocol):
    """Answers and changes that wait on the driver."""

    def take(self, feed: str, empty: pa.Table, limit: int | None = None) -> pa.Table:
        """What came since the last call, at most `limit` rows of it; `empty` gives the columns."""


@runtime_checkable
class Sink(Protocol):
    """Where a query writes: a frozen dataclass, which opens nothing by itself.

    in_process: whether a job in this process can write to it. shows: what whoever watches a job is
    shown instead of its being written: answers as they come, or the result at the end.
    takes_questions: whether continuous questions about the past can write to it on Spark: their
    plans have columns, and no keys.
    """

    in_process: ClassVar[bool] = False
    shows: ClassVar[Literal["answers", "result"] | None] = None
    takes_questions: ClassVar[bool] = False

    @property
    def replay(self) -> Replay:
        """What becomes of a batch that comes again after a restart on Spark."""

    @property
    def bad_rows_folder(self) -> str | None:
        """The folder to which bad rows of a stream can be written; None where they cannot."""
        return None

    def open(self, query: str, place: Place | None) -> Writer:
        """The writer in this process; place: of the query in its script."""
        raise not_written_here(query, place)

    def open_lasting(self, query: str, place: Place | None, batches: int | None) -> Writer:
        """The same of a job whose state is kept; batches: that it has written, None: it begins."""
        raise not_written_here(query, place)

    def open_in_process(self, run: ProcessRun) -> Writer:
        """The writer in this process, by all that is known of the run."""
        if run.is_lasting:
            return self.open_lasting(run.query, run.place, run.batches)
        return self.open(run.query, run.place)

    def open_on_spark(self, plan: QueryPlan, checkpoint: SinkCheckpoint) -> Writer:
        """The writer on the driver."""


class SinkCheckpoint(Protocol):
    """Of the checkpoint of a query what a sink must know of it."""

    @property
    def query(self) -> str:
        """The name of the query."""

    @property
    def is_lasting(self) -> bool:
        """Whether it is there after the session: a later one may go on from it."""

    def identity(self) -> str:
        """A name that this checkpoint has from its beginning, and no other has."""

    def is_begun(self) -> bool:
        """Whether a batch of the query has been published."""


def not_read_here(stream: str, source: Source) -> UnsupportedError:
    """The error of a source that only Spark can read."""
    return UnsupportedError(
        "WU502",
        f"in this process stream {stream!r} cannot be read from {source.shown}",
        hint="run the script on Spark: windrow run, without --embedded",
        place=source.place,
    )


def table_not_read(table: str, source: Source) -> UnsupportedError:
    """The error of a table in this process whose source only Spark can read."""
    return UnsupportedError(
        "WU716",
        f"table {table!r} cannot be read from {source.shown} in this process: only from files",
        hint="run the script on Spark; or give the records to session.changelog(table, records, "
        "format='debezium-json' or 'upsert-json'), or write FROM jsonl('...', format = "
        "'debezium-json')",
        place=source.place,
    )


def question_not_written(query: str, sink: Sink, place: Place | None = None) -> UnsupportedError:
    """The error of a continuous question whose sink on Spark needs more than its columns."""
    return UnsupportedError(
        "WU422",
        f"query {query!r} reads HISTORY, and {type(sink).__name__} cannot be its sink on Spark",
        hint="use memory, console, parquet, delta, or a function, which can write anywhere",
        place=place,
    )


def not_written_here(query: str, place: Place | None) -> UnsupportedError:
    """The error of a query whose sink only Spark has."""
    return UnsupportedError(
        "WU503",
        f"query {query!r} has a sink that only Spark can write to",
        hint="run the script on Spark: windrow run, without --embedded",
        place=place,
    )
