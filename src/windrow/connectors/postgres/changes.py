"""Rows inserted into a table of PostgreSQL, read from its log of changes, described as a source."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, cast

from windrow.connectors.live import TransientError
from windrow.connectors.loading import loaded_with_client
from windrow.connectors.process_only import ProcessOnlySource
from windrow.connectors.scripted import Scripted
from windrow.errors import BindingError, DataError, Place

if TYPE_CHECKING:
    from windrow.connectors.live import Guarantee, LiveReader, Position
    from windrow.connectors.options import Options
    from windrow.schema import StreamSchema

__all__ = ["SOURCES", "PostgresChanges"]

# What PostgreSQL allows as the name of a slot.
_SLOT = re.compile(r"[a-z0-9_]{1,63}")


@dataclass(frozen=True)
class PostgresChanges(ProcessOnlySource):
    """Rows in the order in which their transactions have committed: none is missed, however late.

    slot: what PostgreSQL keeps changes for until they are read; it is made where there is none.

    >>> PostgresChanges("readings", "dbname=building").shown
    "postgres_changes('readings', slot = 'windrow')"
    """

    is_live: ClassVar[bool] = True
    is_endless: ClassVar[bool] = True
    guarantee: ClassVar[Guarantee] = "exactly once"

    table: str  # or schema.table
    url: str = field(repr=False)  # it may hold a password
    slot: str = "windrow"
    place: Place | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not _SLOT.fullmatch(self.slot) or not self.table.strip():
            raise BindingError(
                "WB877",
                f"table {self.table!r} and slot {self.slot!r} cannot be those of a source of "
                "PostgreSQL",
                hint="name a table, and a slot of small letters, digits and underscores",
                place=self.place,
            )

    @property
    def shown(self) -> str:
        """The table and the slot."""
        return f"postgres_changes('{self.table}', slot = '{self.slot}')"

    def check(self, schema: StreamSchema) -> None:
        """Refuses a server that is away, or that keeps no changes."""
        try:
            self.open_live(schema, None).close()
        except TransientError as problem:
            hint = "start the server, correct url=, or check whether it can be reached from here"
            raise DataError("WD876", str(problem), hint=hint, place=self.place) from None

    def open_live(self, schema: StreamSchema, position: Position | None) -> LiveReader:
        """A reader with a connection of its own."""
        reader = loaded_with_client("postgres.slot_reader", "PostgreSQL", "postgres")
        return cast("LiveReader", reader.SlotReader(self, schema, position))


def _described(options: Options) -> PostgresChanges:
    return PostgresChanges(
        options.text("table"), options.text("url"), options.text("slot", "windrow"), options.place
    )


SOURCES = {"postgres_changes": Scripted(("table", "url", "slot"), _described)}
