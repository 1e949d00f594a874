"""session["name"]: what a session has under a name, in this process and on Spark."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from windrow.errors import BindingError
from windrow.plan.catalog import Catalog, View
from windrow.plan.nearest import nearest
from windrow.schema import StreamSchema
from windrow.table_schema import TableSchema

__all__ = ["NamedParts"]


class NamedParts(ABC):
    """A session whose queries, views, streams and tables are found by name."""

    _catalog: Catalog

    @abstractmethod
    def _queries_by_name(self) -> dict[str, Any]:
        """The queries that run."""

    def __getitem__(self, name: str) -> Any:
        """The query, view, stream or table of that name.

        Of a query what `query()` returned; of the others how they were declared. Queries are found
        by their names as written, the others in any case.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("temp", "ts timestamp, celsius double", time="ts")
        >>> query = session.query("SELECT COUNT(*) AS n FROM temp [1 MINUTE]", name="count")
        >>> session["count"] is query, session["temp"].time
        (True, 'ts')
        """
        queries = self._queries_by_name()
        if name in queries:
            return queries[name]
        found = _declared(self._catalog, name)
        if found is None:
            raise _unknown(name, queries, self._catalog)
        return found


def _declared(catalog: Catalog, name: object) -> View | StreamSchema | TableSchema | None:
    if not isinstance(name, str):
        return None
    return catalog.view(name) or catalog.get(name) or catalog.table(name)


def _unknown(name: object, queries: dict[str, Any], catalog: Catalog) -> BindingError:
    beside = [*(each.name for each in catalog.views), *(each.name for each in catalog.tables)]
    names = [*queries, *catalog, *beside]
    guess = nearest(name, names) if isinstance(name, str) else None
    known = ", ".join(names) or "none yet"
    return BindingError(
        "WB107",
        f"the session has no query, view, stream or table {name!r}",
        hint=f"did you mean {guess}?" if guess else f"there are: {known}",
    )
