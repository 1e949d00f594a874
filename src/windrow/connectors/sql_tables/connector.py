"""A table in a file of SQLite or DuckDB, described as the place that a query writes to."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast

from windrow.connectors.contract import Replay, Sink, SinkCheckpoint, Writer
from windrow.connectors.loading import loaded, loaded_with_client
from windrow.connectors.process_run import ProcessRun, RunPlan
from windrow.connectors.scripted import Scripted
from windrow.connectors.table_feeds import TABLE_FEEDS, check_table_feed
from windrow.errors import BindingError, Place

if TYPE_CHECKING:
    from windrow.connectors.options import Options
    from windrow.connectors.sql_tables.database import Database
    from windrow.plan.model import QueryPlan

__all__ = ["SINKS", "Duckdb", "SqlTable", "Sqlite"]


@dataclass(frozen=True)
class SqlTable(Sink):
    """A table that equals the result, or to which changes or answers are added."""

    in_process: ClassVar[bool] = True
    replay: ClassVar[Replay] = "known"
    system: ClassVar[str] = ""

    path: str
    table: str
    feed: str = "upserts"
    key: tuple[str, ...] | None = None
    place: Place | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_table_feed(self.system, self.feed, self.key, self.place)
        if not self.path or ":memory:" in self.path:
            raise BindingError(
                "WB830",
                f"{self.path!r} is no file: nobody could read a {self.system} table in it",
                hint="give the path of a file; it is made where it is not there",
                place=self.place,
            )
        if not all(self.names) or len(self.names) > self._most_names:
            raise BindingError(
                "WB831",
                f"{self.table!r} is not a name for a {self.system} table",
                hint=f"give {self._shown_names}",
                place=self.place,
            )

    _most_names: ClassVar[int] = 1
    _shown_names: ClassVar[str] = "a name without dots"

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the table, behind that of its schema where one is given."""
        return tuple(self.table.split("."))

    @abstractmethod
    def database(self) -> type[Database]:
        """What opens the file."""

    def open_in_process(self, run: ProcessRun) -> Writer:
        """A writer of one transaction a batch."""
        plan = run.keyed_plan(self.feed, self.place or run.place)
        return self._writer(plan, run)

    def open_on_spark(self, plan: QueryPlan, checkpoint: SinkCheckpoint) -> Writer:
        """The same, on the driver."""
        return self._writer(plan, checkpoint)

    def _writer(self, plan: RunPlan, checkpoint: SinkCheckpoint) -> Writer:
        return cast("Writer", loaded("sql_tables.writer").TableWriter(self, plan, checkpoint))


@dataclass(frozen=True)
class Sqlite(SqlTable):
    """A table in a file of SQLite.

    >>> Sqlite("office.db", "rooms").feed
    'upserts'
    """

    system: ClassVar[str] = "SQLite"

    def database(self) -> type[Database]:
        """What opens the file."""
        return cast("type[Database]", loaded("sql_tables.sqlite_file").SqliteFile)


@dataclass(frozen=True)
class Duckdb(SqlTable):
    """A table in a file of DuckDB.

    >>> Duckdb("office.duckdb", "main.rooms", "changes").names
    ('main', 'rooms')
    """

    system: ClassVar[str] = "DuckDB"
    _most_names: ClassVar[int] = 2
    _shown_names: ClassVar[str] = "'table' or 'schema.table'"

    def database(self) -> type[Database]:
        """What opens the file."""
        part = loaded_with_client("sql_tables.duckdb_file", "DuckDB", "duckdb")
        return cast("type[Database]", part.DuckdbFile)


Made = TypeVar("Made", bound=SqlTable)


def _described(made: type[Made]) -> Callable[[Options], Made]:
    def described(options: Options) -> Made:
        return made(
            options.text("path"),
            options.text("table"),
            options.one_of("feed", TABLE_FEEDS),
            options.names("key"),
            options.place,
        )

    return described


SINKS = {
    "sqlite": Scripted(("table", "path", "feed", "key"), _described(Sqlite)),
    "duckdb": Scripted(("table", "path", "feed", "key"), _described(Duckdb)),
}
