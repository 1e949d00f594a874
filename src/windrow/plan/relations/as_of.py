"""Joins that find one row by time: FOR SYSTEM_TIME AS OF a.ts, and ASOF JOIN."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.errors import BindingError, UnsupportedError
from windrow.plan.expressions import Call, ColumnRef, Expr
from windrow.plan.relations.aggregate_calls import function_name
from windrow.plan.relations.algebra import AsOfJoin, Relation, VersionScan
from windrow.plan.relations.context import Context, Environment
from windrow.plan.relations.instants import PROCTIME
from windrow.plan.relations.nested import has_query
from windrow.plan.relations.phase import RowPhase
from windrow.plan.relations.references import conjuncts_of, ids_of, is_pair, read_ids
from windrow.plan.relations.row_times import NotTimeError, longest_stay, time_of_rows
from windrow.plan.relations.tables import FromRows
from windrow.plan.relations.visible import Visible
from windrow.plan.types import all_of
from windrow.schema import BOOLEAN, TIMESTAMP
from windrow.sql.places import place_of
from windrow.sql.statements import Source
from windrow.table_schema import TableSchema

__all__ = ["AsOfBinder", "is_as_of"]

# How an inequality reads with its sides exchanged, and which of them say "not later".
_MIRRORED = {">=": "<=", ">": "<", "<=": ">=", "<": ">"}


def is_as_of(source: Source) -> bool:
    """Whether a row of the source is found by time."""
    return source.as_of is not None or source.join.startswith("asof")


class AsOfBinder:
    """Binds one such join of what stands before it with the source; both: what ON can name."""

    def __init__(
        self,
        context: Context,
        environment: Environment,
        text: str,
        left: FromRows,
        right: FromRows,
        source: Source,
    ) -> None:
        self._context, self._environment, self._text = context, environment, text
        self._left, self._right, self._source = left, right, source

    def relation(self) -> Relation:
        """The join."""
        on = self._on()
        own, other = ids_of(self._left.relation), ids_of(self._right.relation)
        pairs: list[tuple[Expr, Expr]] = []
        rest: list[Expr] = []
        for each in conjuncts_of(on):
            pair = is_pair(each)
            sides = None if pair is None else _apart(pair, own, other)
            if sides is None:
                rest.append(each)
            else:
                pairs.append(sides)
        if self._source.as_of is not None:
            return self._of_versions(pairs, rest)
        return self._of_rows(pairs, rest)

    def _on(self) -> Expr:
        source = self._source
        if source.on is None or source.using or source.is_natural:
            raise BindingError(
                "WB789",
                f"the join AS OF with {source.alias!r} needs ON",
                hint=f"write JOIN ... ON a.k = {source.alias}.k",
                place=source.place,
            )
        if source.join not in ("inner", "left", "asof", "asof left") or has_query(source.on):
            what = (
                "a sub-query in ON of a join AS OF" if has_query(source.on) else "this join AS OF"
            )
            raise UnsupportedError(
                "WU787",
                f"{what} is not supported: only JOIN and LEFT JOIN, with plain conditions, are",
                hint="write JOIN or LEFT JOIN, with the stream on the left",
                place=source.place,
            )
        tables = (*self._left.tables, *self._right.tables)
        columns = (*self._left.columns, *self._right.columns)
        visible = Visible(self._text, tables, columns, (*self._left.hidden, *self._right.hidden))
        phase = RowPhase(self._context, self._environment, visible, self._left.relation)
        return phase.condition(source.on, "ON")

    @property
    def _is_left(self) -> bool:
        return self._source.join in ("left", "asof left")

    # ---- versions of a table

    def _of_versions(self, pairs: list[tuple[Expr, Expr]], rest: list[Expr]) -> Relation:
        scan = self._right.relation
        assert isinstance(scan, VersionScan)
        table = self._context.catalog.table(scan.table)
        assert table is not None
        time = self._time()
        scan = replace(scan, kept_us=self._kept(time))
        keys: dict[str, tuple[Expr, Expr]] = {}
        for left, right in pairs:
            name = _column_of(scan, right)
            if name in table.key and name not in keys:
                keys[name] = left, right
            else:
                rest.append(Call("=", (left, right), BOOLEAN))
        self._check_keys(table, keys)
        there = Call("not", (scan.gone.ref,), BOOLEAN)
        return AsOfJoin(
            "left" if self._is_left else "inner",
            self._left.relation,
            scan,
            tuple(keys[name] for name in table.key),
            (time, scan.since.ref),
            condition=all_of([there, *rest]),
        )

    def _time(self) -> Expr:
        """The time of a left row: a column of it, or its arrival, which is at its own time."""
        node = self._source.as_of
        assert node is not None
        if function_name(node) == PROCTIME:
            field = time_of_rows(self._left.relation)
            if field is None:
                raise self._wrong_time("PROCTIME() is the time of the rows of one stream", node)
            return field.ref
        left = self._left
        visible = Visible(self._text, left.tables, left.columns, left.hidden)
        phase = RowPhase(self._context, self._environment, visible, left.relation)
        bound = phase.bind(node, "FOR SYSTEM_TIME AS OF")
        if not isinstance(bound, ColumnRef) or bound.type != TIMESTAMP:
            raise self._wrong_time("the time of AS OF must be a column of type TIMESTAMP", node)
        return bound

    def _kept(self, time: Expr) -> int | None:
        assert isinstance(time, ColumnRef)
        try:
            return longest_stay(self._left.relation, time.column)
        except NotTimeError:
            node = self._source.as_of
            assert node is not None
            told = "the time of AS OF must be the time column of a stream"
            raise self._wrong_time(told, node) from None

    def _wrong_time(self, told: str, node: exp.Expr) -> BindingError:
        return BindingError(
            "WB716",
            f"{told}: versions are kept for as long as rows of that time can come",
            hint="write FOR SYSTEM_TIME AS OF a.ts, where ts is the TIME of the stream a",
            place=place_of(node, self._text) or self._source.place,
        )

    def _check_keys(self, table: TableSchema, keys: dict[str, tuple[Expr, Expr]]) -> None:
        missing = [name for name in table.key if name not in keys]
        if missing:
            alias = self._source.alias
            equal = " AND ".join(f"{alias}.{name} = a.{name}" for name in table.key)
            raise BindingError(
                "WB716",
                f"the join AS OF with table {table.name!r} lacks {', '.join(missing)} of its key",
                hint=f"a version is found by its whole key: ON {equal}",
                place=self._source.place,
            )

    # ---- the newest row of any relation

    def _of_rows(self, pairs: list[tuple[Expr, Expr]], rest: list[Expr]) -> Relation:
        own, other = ids_of(self._left.relation), ids_of(self._right.relation)
        found = [each for each in map(_inequality, rest) if each is not None]
        order = _time_order(found[0], own, other) if len(found) == len(rest) == 1 else None
        if order is None:
            raise BindingError(
                "WB789",
                "ASOF JOIN compares the times of both inputs once, and keys by equality",
                hint=f"write ON a.k = {self._source.alias}.k AND a.ts >= {self._source.alias}.ts",
                place=self._source.place,
            )
        left, right, is_strict = order
        return AsOfJoin(
            "left" if self._is_left else "inner",
            self._left.relation,
            self._right.relation,
            tuple(pairs),
            (left, right),
            is_strict,
        )


def _apart(
    pair: tuple[Expr, Expr], left: frozenset[str], right: frozenset[str]
) -> tuple[Expr, Expr] | None:
    """The operands, that of the left input first, where each reads one input."""
    for one, other in (pair, pair[::-1]):
        if read_ids(one) and read_ids(other) and read_ids(one) <= left and read_ids(other) <= right:
            return one, other
    return None


def _column_of(scan: VersionScan, expression: Expr) -> str | None:
    """The column of the table that the expression is, perhaps in a wider type."""
    if isinstance(expression, Call) and expression.function == "cast":
        (expression,) = expression.arguments
    if not isinstance(expression, ColumnRef):
        return None
    return next((field.name for field in scan.given if field.id == expression.column), None)


def _inequality(condition: Expr) -> tuple[str, Expr, Expr] | None:
    if isinstance(condition, Call) and condition.function in _MIRRORED:
        one, other = condition.arguments
        return condition.function, one, other
    return None


def _time_order(
    found: tuple[str, Expr, Expr], left: frozenset[str], right: frozenset[str]
) -> tuple[Expr, Expr, bool] | None:
    """The times of left and right, and whether the right one is earlier; None: it is later."""
    sign, one, other = found
    for word, first, second in ((sign, one, other), (_MIRRORED[sign], other, one)):
        is_own = read_ids(first) and read_ids(first) <= left and read_ids(second) <= right
        has_time = first.type == second.type and (first.type == TIMESTAMP or first.type.is_integer)
        if is_own and read_ids(second) and has_time and word in (">=", ">"):
            return first, second, word == ">"
    return None
