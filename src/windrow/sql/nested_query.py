"""A query inside an expression: a node among sqlglot's that carries one of our statements."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from windrow.sql.statements import QueryText

__all__ = ["NestedQuery", "without_queries"]


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


def without_queries(node: exp.Expr) -> exp.Expr:
    """A copy in which every query within is the name `subquery`, which any dialect can print."""
    return node.transform(lambda each: exp.column("subquery") if _is_query(each) else each)


def _is_query(node: exp.Expr) -> bool:
    return isinstance(node, NestedQuery)
