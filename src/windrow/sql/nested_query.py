"""A query inside an expression: a node among sqlglot's that carries one of our statements."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from windrow.sql.statements import QueryText

__all__ = ["NestedQuery"]


class NestedQuery(exp.Expression):
    """(SELECT ...) as a value; EXISTS is exp.Exists(this=it), x IN (...) exp.In(this=x, query=it).

    >>> from windrow.sql import parse_query
    >>> NestedQuery(query=parse_query("SELECT MAX(x) FROM s [1 MINUTE]")).query.sources[0].stream
    's'
    """

    arg_types: ClassVar[dict[str, bool]] = {"query": True}

    @property
    def query(self) -> QueryText:
        """The statement."""
        found: QueryText = self.args["query"]
        return found
