"""The writers that call a user's function with each batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa

from windrow.connectors.contract import Writer
from windrow.connectors.functions.connector import Foreach, Upserts
from windrow.connectors.net_changes import NetChanges
from windrow.errors import DataError, WindrowError
from windrow.plan.model import QueryPlan

__all__ = ["CallableWriter", "UpsertWriter", "named_failures"]


class CallableWriter(Writer):
    """Calls the user's function with one feed and the batch id."""

    def __init__(self, sink: Foreach) -> None:
        self._function = sink.function
        self.feeds: tuple[str, ...] = (sink.feed,)

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Calls the function."""
        with named_failures(batch_id):
            self._function(tables[self.feeds[0]], batch_id)


class UpsertWriter(Writer):
    """Calls the user's function with the rows to put in place and those to remove."""

    def __init__(self, sink: Upserts, plan: QueryPlan) -> None:
        self._function = sink.function
        self._net = NetChanges(plan, sink.key)
        self.feeds: tuple[str, ...] = self._net.feeds

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Calls the function if the batch has changed any row."""
        upserts, deletes = self._net.of(tables)
        if upserts.num_rows or deletes.num_rows:
            with named_failures(batch_id):
                self._function(upserts, deletes, batch_id)


@contextmanager
def named_failures(batch_id: int) -> Iterator[None]:
    """What a user's function raises ends the query with an error."""
    try:
        yield
    except WindrowError:
        raise
    except Exception as problem:
        raise DataError(
            "WD410",
            f"the sink failed at batch {batch_id}: {type(problem).__name__}: {problem}",
            hint="the batch is replayed, with the same id, when the query is restarted",
        ) from problem
