"""The tables of a session: when changes take effect, and how they are made.

What comes without a time of its own holds from the next instant on, after all rows that have come
to any stream and all that tables have told: every call has an instant of its own, the same for all
queries, and rows that came before it do not see it. Before the first event these instants are at
the beginning of time. A version with a time holds from that time on, once some stream is complete
up to there; if that has passed, it holds from the instant after it on, and counts as late.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from windrow.deferred import deferred
from windrow.embedded.query import EmbeddedQuery
from windrow.errors import AdmissionError, BindingError
from windrow.event_time import MIN_EVENT_TIME, START_OF_TIME
from windrow.memory_size import show_memory
from windrow.plan.nearest import nearest
from windrow.plan.tables_read import tables_of
from windrow.rows.given_table_rows import GivenVersions
from windrow.runtime.tables.taking_effect import instants_of_versions
from windrow.table_schema import TableSchema

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
    from windrow.runtime.tables.table_store import TableChange, TableStore
    from windrow.runtime.tables.versions import Versions, no_versions
else:
    TreePlan = deferred("windrow.plan.relations.tree_plan", "TreePlan")
    TableStore = deferred("windrow.runtime.tables.table_store", "TableStore")
    Versions = deferred("windrow.runtime.tables.versions", "Versions")
    no_versions = deferred("windrow.runtime.tables.versions", "no_versions")

__all__ = ["Tables"]

# More than a row that changes in a table costs a query that reads it, beside the table itself.
READER_ROW_BYTES = 512


class Tables:
    """stores: by name. reached: the instant of the last change that took effect as it came."""

    def __init__(self) -> None:
        self.stores: dict[str, TableStore] = {}
        self.reached = START_OF_TIME
        self.is_finished = False
        self._changes: list[TableChange] = []  # that are being made

    def declare(self, schema: TableSchema) -> None:
        """One more table."""
        self.stores[schema.name] = TableStore(schema)

    def get(self, name: str) -> TableStore | None:
        """The table of that name, in any case of its letters."""
        lower = name.lower()
        return next((each for key, each in self.stores.items() if key.lower() == lower), None)

    def named(self, name: str) -> TableStore:
        """The same, or an error that names the nearest one."""
        found = self.get(name)
        if found is None:
            guess = nearest(name, self.stores)
            hint = "declare it: session.table(name, columns, key=...)"
            raise BindingError(
                "WB710",
                f"there is no table {name!r}",
                hint=f"did you mean {guess!r}?" if guess else hint,
            )
        return found

    def read_by(self, plan: RunnablePlan) -> list[TableStore]:
        """The tables that a plan reads itself."""
        own = plan.own_tables if isinstance(plan, TreePlan) else ()
        return [self.named(name) for name in own]

    @property
    def nbytes(self) -> int:
        """Bytes of all tables."""
        return sum(store.nbytes for store in self.stores.values())

    # ---- time

    def clock_for(self, plan: RunnablePlan, clock: int, newest: int) -> int:
        """How far a query goes whose streams are complete through `clock`.

        newest: the instant through which any stream is complete. A table holds nobody back; before
        the first event, where no stream says anything, it alone says how far time is.
        """
        if not tables_of(plan):
            return clock
        if not plan.streams:
            return max(newest, self.reached)
        return max(clock, min(self.reached, MIN_EVENT_TIME - 1))

    def changes_of(
        self, store: TableStore, given: GivenVersions, complete: int, newest: int
    ) -> list[TableChange]:
        """What rows for a table change in it, and time that passes by them in others.

        complete: the instant through which any stream is complete; newest: that of any row.
        """
        reached = max(complete, self.reached)
        following = max(newest, reached) + 1
        at, time, late = instants_of_versions(given, reached, following)
        versions = Versions(at, time, given.gone, given.columns)
        until = reached
        if self.is_finished:
            until = max(reached, int(at.max(initial=START_OF_TIME)))
        elif bool(given.is_untimed.any()) or not store.schema.has_time:
            until = following
        elif late:
            until = reached + 1
        change = store.change(versions, until, late)
        change.assignments.add(self, reached=max(self.reached, until))
        others = [each for each in self.stores.values() if each is not store]
        return [change, *_due(others, until)]

    def move_to(self, newest: int) -> None:
        """Streams are complete through that instant: versions up to there hold."""
        self.resume()
        self.make(_due(self.stores.values(), newest))

    def finish(self) -> None:
        """No stream moves any more: all versions hold."""
        self.resume()
        last = [int(each.waiting.at[-1]) for each in self.stores.values() if each.waiting.size]
        reached = max([self.reached, *last])
        changes = _due(self.stores.values(), reached)
        if changes:
            changes[0].assignments.add(self, reached=reached)
        self.make(changes)
        self.is_finished = True

    def make(self, changes: list[TableChange]) -> None:
        """Make changes, also those that were broken off."""
        self._changes = changes
        self.resume()

    def resume(self) -> None:
        """Bring changes to their end that were broken off."""
        for change in self._changes:
            change.finish()
        self._changes = []

    # ---- memory

    def check_room(
        self, changes: list[TableChange], rows: int, held: int, budget: int, readers: int
    ) -> None:
        """Refuse a change as a whole for which there is no room in the budget."""
        added = sum(change.added_bytes for change in changes)
        needed = added + rows * READER_ROW_BYTES * readers
        if held + needed > budget:
            name = changes[0].store.name
            raise AdmissionError(
                "WA713",
                f"{rows:,} rows for table {name!r} need about {show_memory(needed)}, and "
                f"{show_memory(held)} of {show_memory(budget)} are in use: none was taken",
                hint="delete rows that nobody needs, or connect(memory=...) with more",
            )

    def trim(self, queries: Iterable[EmbeddedQuery], newest: int) -> None:
        """Drop from the logs what all queries have read and nobody can ask for."""
        read = {id(store): newest for store in self.stores.values()}
        for query in queries:
            if query.reading.is_running:
                for store, until in query.tables_read():
                    read[id(store)] = min(until, read[id(store)])
        for store in self.stores.values():
            store.trim(read[id(store)])
            store.compact()


def _due(stores: Iterable[TableStore], until: int) -> list[TableChange]:
    """What time alone changes in tables: versions that hold from then on."""
    waiting = (each for each in stores if each.waiting.size)
    due = [each for each in waiting if int(each.waiting.at[0]) <= until]
    return [each.change(no_versions(each.types), until) for each in due]
