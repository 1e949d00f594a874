"""A table of PostgreSQL, described as the place that a query writes to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, cast

from windrow.connectors.contract import Replay, Sink, SinkCheckpoint, Writer
from windrow.connectors.loading import loaded_with_client
from windrow.connectors.process_run import ProcessRun, RunPlan
from windrow.connectors.scripted import Scripted
from windrow.connectors.table_feeds import TABLE_FEEDS, check_table_feed
from windrow.errors import BindingError, Place

if TYPE_CHECKING:
    from windrow.connectors.options import Options
    from windrow.plan.model import QueryPlan

__all__ = ["SINKS", "Postgres"]


@dataclass(frozen=True)
class Postgres(Sink):
    """A table that equals the result, or to which changes or answers are added.

    The address may hold a password: it is shown nowhere.
    """

    in_process: ClassVar[bool] = True
    replay: ClassVar[Replay] = "known"

    url: str = field(repr=False)  # postgresql://user@host/database, or libpq's key=value words
    table: str  # or schema.table
    feed: str = "upserts"
    key: tuple[str, ...] | None = None
    place: Place | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_table_feed("PostgreSQL", self.feed, self.key, self.place)
        if not all(self.names) or len(self.names) > 2:
            raise BindingError(
                "WB445",
                f"{self.table!r} is not a name for a PostgreSQL table",
                hint="give 'table' or 'schema.table'",
                place=self.place,
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the table, behind that of its schema where one is given."""
        return tuple(self.table.split("."))

    def open_in_process(self, run: ProcessRun) -> Writer:
        """A writer of one transaction a batch."""
        return self._writer(run.keyed_plan(self.feed, self.place), run)

    def open_on_spark(self, plan: QueryPlan, checkpoint: SinkCheckpoint) -> Writer:
        """The same, on the driver."""
        return self._writer(plan, checkpoint)

    def _writer(self, plan: RunPlan, checkpoint: SinkCheckpoint) -> Writer:
        part = loaded_with_client("postgres.writer", "PostgreSQL", "postgres")
        return cast("Writer", part.PostgresWriter(self, plan, checkpoint))


def _described(options: Options) -> Postgres:
    return Postgres(
        options.text("url"),
        options.text("table"),
        options.one_of("feed", TABLE_FEEDS),
        options.names("key"),
        options.place,
    )


SINKS = {"postgres": Scripted(("table", "url", "feed", "key"), _described)}
