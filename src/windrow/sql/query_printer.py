"""Queries and expressions back to text: WQL, or the SQL of DuckDB where there are no windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.generators.duckdb import DuckDBGenerator
from sqlglot.generators.spark import SparkGenerator

from windrow.sql.dialect import WQL
from windrow.sql.nested_query import NestedQuery
from windrow.sql.service_clauses import print_service_clauses
from windrow.sql.statements import (
    CommonTable,
    Ordering,
    QueryText,
    Select,
    SelectItem,
    SetQuery,
    Source,
    ValuesList,
)
from windrow.sql.window_clause import print_history_range, print_window
from windrow.sql.words import print_name

__all__ = ["Dialect", "print_expression", "print_query"]

Dialect = Literal["spark", "duckdb"]

_JOINS = {
    "inner": "JOIN",
    "left": "LEFT JOIN",
    "right": "RIGHT JOIN",
    "full": "FULL JOIN",
    "semi": "LEFT SEMI JOIN",
    "anti": "LEFT ANTI JOIN",
    "asof": "ASOF JOIN",
    "asof left": "ASOF LEFT JOIN",
}
_DUCKDB_JOINS = {**_JOINS, "semi": "SEMI JOIN", "anti": "ANTI JOIN"}


def print_expression(expression: exp.Expr, dialect: Dialect = "spark") -> str:
    """The expression as SQL of 'spark' or 'duckdb'.

    For DuckDB all names are quoted: words are reserved there that are none in WQL.
    """
    return expression.sql(
        dialect=_Spark if dialect == "spark" else _DuckDB,
        identify=dialect != "spark",
        comments=False,
    )


def print_query(query: QueryText, dialect: Dialect = "spark") -> str:
    """The query on one line; for 'duckdb' it must have no windows and no service clauses."""
    return _Printer(dialect).query(query)


class _Printer:
    """Prints for one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect: Dialect = dialect
        self._joins = _JOINS if dialect == "spark" else _DUCKDB_JOINS

    def query(self, query: QueryText) -> str:
        """Any query."""
        if isinstance(query, ValuesList):
            return f"VALUES {', '.join(self._row(row) for row in query.rows)}"
        tables = [self._common_table(table) for table in query.common_tables]
        parts = [f"WITH {', '.join(tables)}"] if tables else []
        parts += self._select(query) if isinstance(query, Select) else self._set_query(query)
        if query.order_by:
            parts.append("ORDER BY " + ", ".join(self._key(key) for key in query.order_by))
        if query.limit is not None:
            parts.append(f"LIMIT {query.limit}")
        if query.offset:
            parts.append(f"OFFSET {query.offset}")
        service = print_service_clauses(
            query.error_percent, query.every_us, query.duration, query.on_error
        )
        self._only_here(service)
        return " ".join([*parts, *service])

    def _only_here(self, printed: object) -> None:
        if printed and self._dialect != "spark":
            raise ValueError(f"{printed} has no meaning in {self._dialect}")

    def _name(self, name: str) -> str:
        if self._dialect == "spark":
            return print_name(name)
        return exp.to_identifier(name, quoted=True).sql(dialect=_DuckDB)

    def _names(self, names: tuple[str, ...]) -> str:
        return ", ".join(self._name(name) for name in names)

    def _expression(self, expression: exp.Expr) -> str:
        return print_expression(expression, self._dialect)

    def _list(self, expressions: tuple[exp.Expression, ...]) -> str:
        return ", ".join(self._expression(each) for each in expressions)

    def _row(self, row: tuple[exp.Expression, ...]) -> str:
        return f"({self._list(row)})"

    def _common_table(self, table: CommonTable) -> str:
        columns = f" ({self._names(table.columns)})" if table.columns else ""
        return f"{self._name(table.name)}{columns} AS ({self.query(table.query)})"

    def _key(self, key: Ordering) -> str:
        printed = self._expression(key.expression) + (" DESC" if key.is_descending else "")
        nulls_first = key.nulls_first
        if nulls_first is None and self._dialect != "spark":  # said, as its default is another
            nulls_first = not key.is_descending
        return printed + {None: "", True: " NULLS FIRST", False: " NULLS LAST"}[nulls_first]

    def _set_query(self, query: SetQuery) -> list[str]:
        word = query.kind.upper() + (" ALL" if query.is_all else "")
        return [self._part(query, query.left), word, self._part(query, query.right, is_right=True)]

    def _part(self, whole: SetQuery, part: QueryText, *, is_right: bool = False) -> str:
        """A part in brackets, unless it is read the same without them."""
        printed = self.query(part)
        return printed if _stands_alone(whole, part, is_right=is_right) else f"({printed})"

    def _select(self, select: Select) -> list[str]:
        parts = ["SELECT DISTINCT" if select.distinct else "SELECT"]
        parts.append(", ".join(self._item(item) for item in select.items))
        if select.sources:
            parts.append("FROM " + self._sources(select.sources))
        conditions = self._conditions(select)
        if conditions:
            parts.append("WHERE " + " AND ".join(conditions))
        if select.group_by or select.grouping_sets:
            parts.append("GROUP BY " + self._groups(select))
        if select.having is not None:
            parts.append("HAVING " + self._expression(select.having))
        if select.qualify is not None:
            parts.append("QUALIFY " + self._expression(select.qualify))
        return parts

    def _item(self, item: SelectItem) -> str:
        printed = self._expression(item.expression)
        return printed if item.alias is None else f"{printed} AS {self._name(item.alias)}"

    def _conditions(self, select: Select) -> list[str]:
        conditions = []
        where = select.where
        if where is not None:
            if select.not_exists and isinstance(where, exp.Or):
                where = exp.Paren(this=where.copy())
            conditions.append(self._expression(where))
        conditions += [f"NOT EXISTS ({self.query(negated)})" for negated in select.not_exists]
        return conditions

    def _groups(self, select: Select) -> str:
        if not select.grouping_sets:
            return self._list(select.group_by)
        sets = [self._row(tuple(select.group_by[i] for i in one)) for one in select.grouping_sets]
        return f"GROUPING SETS ({', '.join(sets)})"

    def _sources(self, sources: tuple[Source, ...]) -> str:
        return "".join(self._source(source) for source in sources)

    def _source(self, source: Source) -> str:
        printed = self._relation(source)
        if source.alias != source.stream or source.columns:
            printed += f" AS {self._name(source.alias)}"
        if source.columns:
            printed += f" ({self._names(source.columns)})"
        return self._join(source, printed)

    def _join(self, source: Source, printed: str) -> str:
        if source.join == "first":
            return printed
        if source.is_comma:
            return f", {printed}"
        word = self._joins[source.join]
        if source.is_natural:
            return f" NATURAL {word} {printed}"
        if source.using:
            return f" {word} {printed} USING ({self._names(source.using)})"
        if source.on is None:
            return f" CROSS JOIN {printed}"
        return f" {word} {printed} ON {self._expression(source.on)}"

    def _relation(self, source: Source) -> str:
        if source.history is not None:
            self._only_here(source.history)
            return f"HISTORY({self._name(source.stream)}) {print_history_range(source.history)}"
        window = print_window(source.window)
        self._only_here(window)
        if source.unnest is not None:
            counted = " WITH ORDINALITY" if source.has_ordinality else ""
            return self._expression(source.unnest) + counted
        if source.joined:
            return f"({self._sources(source.joined)})"
        if source.query is not None:
            lateral = "LATERAL " if source.is_lateral else ""
            return f"{lateral}({self.query(source.query)}){window}"
        return self._name(source.stream) + window + self._as_of(source)

    def _as_of(self, source: Source) -> str:
        if source.as_of is None:
            return ""
        self._only_here(source.as_of)
        return f" FOR SYSTEM_TIME AS OF {self._expression(source.as_of)}"


def _stands_alone(whole: SetQuery, part: QueryText, *, is_right: bool) -> bool:
    if isinstance(part, ValuesList):
        return True
    service = (part.error_percent, part.every_us, part.duration, part.on_error)
    counts = (part.limit, part.offset or None)
    if part.order_by or part.common_tables or any(each is not None for each in (*service, *counts)):
        return False
    if isinstance(part, Select):
        return True
    if part.kind == "intersect":
        return whole.kind != "intersect" or not is_right
    return whole.kind != "intersect" and not is_right


def _transforms(dialect: Dialect) -> dict[type[exp.Expr], Callable[[Any, Any], str]]:
    """How nodes that hold queries are printed; sqlglot looks for queries of its own in them."""
    return {
        NestedQuery: lambda _, node: f"({print_query(node.query, dialect)})",
        exp.Exists: lambda printer, node: f"EXISTS {printer.sql(node, 'this')}",
        exp.Any: lambda printer, node: f"ANY {printer.sql(node, 'this')}",
        exp.All: lambda printer, node: f"ALL {printer.sql(node, 'this')}",
    }


class _Spark(WQL):
    """WQL with queries in expressions."""

    class Generator(SparkGenerator):
        """Prints the nodes of ours, too."""

        TRANSFORMS: ClassVar[dict[type[exp.Expr], Callable[[Any, Any], str]]] = {
            **SparkGenerator.TRANSFORMS,
            **_transforms("spark"),
        }


class _DuckDB(DuckDB):
    """DuckDB's dialect with queries in expressions."""

    class Generator(DuckDBGenerator):
        """Prints the nodes of ours, too."""

        TRANSFORMS: ClassVar[dict[type[exp.Expr], Callable[[Any, Any], str]]] = {
            **DuckDBGenerator.TRANSFORMS,
            **_transforms("duckdb"),
        }
