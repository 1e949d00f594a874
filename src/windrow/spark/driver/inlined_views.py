"""Views of a session on Spark: each query has the queries of the views that it reads within it."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from windrow.errors import BindingError
from windrow.plan.catalog import Catalog, View
from windrow.plan.relations.planner import plan_view
from windrow.sql import parse_query
from windrow.sql.double_quotes import names_in_backquotes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from windrow.query import Query

__all__ = ["InlinedViews"]


class InlinedViews:
    """Names that stand for queries."""

    _catalog: Catalog
    _double_quotes: str

    @abstractmethod
    def _queries_by_name(self) -> Mapping[str, Query]: ...
    @abstractmethod
    def _knowing_functions(self) -> AbstractContextManager[None]: ...

    def view(self, name: str, text: str) -> None:
        """Gives a query a name under which other queries can read it.

        It is a part of each query that reads it; two that do so run it twice.

        Example::

            session.view("busy", "SELECT k, COUNT(*) AS n FROM s [1 MINUTE] GROUP BY k")
            session.query("SELECT MAX(n) AS n FROM busy")
        """
        plain = names_in_backquotes(text, self._double_quotes)
        if any(each.lower() == name.lower() for each in self._queries_by_name()):
            message = f"a query named {name!r} exists already"
            raise BindingError("WB104", message, hint="choose another")
        with self._knowing_functions():
            view = View(name, parse_query(plain), plain)
            catalog = self._catalog.with_view(view)
            plan_view(view, catalog)  # its errors are told now, before anything reads it
        self._catalog = catalog
