"""An Iceberg table to which rows are added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, cast

from windrow.connectors.contract import Replay, Sink, SinkCheckpoint, Writer
from windrow.connectors.feeds import FEEDS, check_feed
from windrow.connectors.loading import loaded_with_client
from windrow.connectors.process_run import ProcessRun
from windrow.connectors.scripted import Scripted
from windrow.errors import BindingError, Place

if TYPE_CHECKING:
    from windrow.connectors.options import Options
    from windrow.plan.model import QueryPlan

__all__ = ["OPTION_PREFIX", "SINKS", "Iceberg"]

OPTION_PREFIX = "catalog."


@dataclass(frozen=True)
class Iceberg(Sink):
    """Rows added to a table of a catalog, one snapshot a batch.

    catalog: its name in PyIceberg's configuration; options: of the catalog, such as catalog.uri.

    >>> Iceberg("office.alarms", options={"catalog.uri": "http://localhost:8181"}).catalog
    'default'
    """

    in_process: ClassVar[bool] = True
    takes_questions: ClassVar[bool] = True
    replay: ClassVar[Replay] = "known"

    table: str
    catalog: str = "default"
    feed: str = "answers"
    options: Mapping[str, str] = field(default_factory=dict, repr=False)  # secrets are among them

    def __post_init__(self) -> None:
        check_feed(self.feed)
        if not all(self.table.split(".")) or "." not in self.table:
            raise BindingError(
                "WB497",
                f"{self.table!r} is not the name of an Iceberg table",
                hint="give its namespace and its name, such as 'office.alarms'",
            )
        for name in self.options:
            if not name.startswith(OPTION_PREFIX):
                raise BindingError(
                    "WB497",
                    f"{name!r} is not an option of an Iceberg catalog",
                    hint=f"names begin with {OPTION_PREFIX!r}, such as 'catalog.uri'",
                )

    def open(self, query: str, place: Place | None) -> Writer:
        """A writer of one run, which adds to what is there."""
        return self._writer(query, None)

    def open_in_process(self, run: ProcessRun) -> Writer:
        """The same, or one that knows the batches of its state."""
        return self._writer(run.query, run if run.is_lasting else None)

    def open_on_spark(self, plan: QueryPlan, checkpoint: SinkCheckpoint) -> Writer:
        """A writer that knows the batches of its checkpoint."""
        return self._writer(checkpoint.query, checkpoint)

    def _writer(self, query: str, checkpoint: SinkCheckpoint | None) -> Writer:
        part = loaded_with_client("iceberg.writer", "Iceberg tables", "iceberg")
        return cast("Writer", part.IcebergWriter(self, query, checkpoint))


def _described(options: Options) -> Iceberg:
    return Iceberg(
        options.text("table"),
        options.text("catalog", "default"),
        options.one_of("feed", FEEDS),
        options.beginning(OPTION_PREFIX),
    )


SINKS = {"iceberg": Scripted(("table", "catalog", "feed", "catalog.*"), _described)}
