"""Prepared rows of an input as those of another one over the same stream.

A column is looked for by the expression that it was made from; where there is none, it is computed
from the columns of the stream that are among those of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from windrow.plan.expressions import Call, ColumnRef, Expr, walk
from windrow.plan.model import PlanInput, QueryPlan
from windrow.rows.checked_columns import CheckedColumns, leaf_of
from windrow.rows.evaluate import evaluate_filter
from windrow.rows.prepare import prepared_columns
from windrow.rows.prepared_names import TAKES_PART, TIME
from windrow.rows.prepared_rows import PreparedColumns
from windrow.rows.shape import shape_of
from windrow.schema import BIGINT

__all__ = ["DiffersError", "InputPlace", "conjuncts", "converted_rows", "plain_expression"]


class DiffersError(Exception):
    """An input cannot take over the rows of another one; code, and why."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(why)
        self.code = code


@dataclass(frozen=True)
class InputPlace:
    """An input within its block."""

    plan: QueryPlan
    number: int

    @property
    def entry(self) -> PlanInput:
        """What FROM says of it."""
        return self.plan.inputs[self.number]

    @property
    def stream(self) -> str:
        """The name of its stream."""
        return self.entry.stream.name

    @property
    def columns(self) -> PreparedColumns:
        """Those of its rows."""
        return prepared_columns(self.plan, self.number)


def converted_rows(given: pa.Table | None, old: InputPlace, new: InputPlace) -> pa.Table:
    """Rows of the old input as the new one has them."""
    target = new.columns
    if given is None:
        return target.schema.empty_table()
    (batch,) = given.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], given.schema)]
    known = _columns_by_expression(batch, old.columns)
    stream_rows = _stream_rows(batch, old)
    extra = [
        each for each in conjuncts(new.entry.filter) if each not in conjuncts(old.entry.filter)
    ]
    _check_available(stream_rows, extra, new)
    live = np.ones(batch.num_rows, np.bool_)
    for condition in extra:
        live &= evaluate_filter(condition, leaf_of(stream_rows), batch.num_rows)
    found, shape = CheckedColumns(stream_rows, live), shape_of(new.plan).inputs[new.number]
    columns = [batch.column(TIME)]
    for part, kind in (
        *((each, each.type.arrow) for each in target.plain),
        *zip(shape.values, shape.value_types, strict=True),
    ):
        column = known.get((plain_expression(part), kind))
        if column is None:
            _check_available(stream_rows, [part], new)
            column = found.value(part, kind)
        columns.append(column)
    found.check()
    if target.schema.names[-1] == TAKES_PART:
        columns.append(batch.column(TAKES_PART))
    rows = pa.Table.from_arrays(columns, schema=target.schema).filter(pa.array(live))
    return _with_keys(rows, target)


def _with_keys(rows: pa.Table, columns: PreparedColumns) -> pa.Table:
    """Without rows that lack a key: they match nothing."""
    for name in columns.schema.names[columns.keys]:
        rows = rows.filter(rows.column(name).is_valid())
    return rows


def _columns_by_expression(
    batch: pa.RecordBatch, columns: PreparedColumns
) -> dict[tuple[Expr, pa.DataType], pa.Array]:
    """What the rows have, by what it was made from."""
    return {
        (plain_expression(made_from), column.type): column
        for made_from, column in _made_from(batch, columns)
    }


def _made_from(batch: pa.RecordBatch, columns: PreparedColumns) -> Iterator[tuple[Expr, pa.Array]]:
    for field in columns.schema:
        if field.name not in (TIME, TAKES_PART):
            made_from = columns.source_of(ColumnRef(0, field.name, BIGINT))
            yield made_from, batch.column(field.name)


def _stream_rows(batch: pa.RecordBatch, old: InputPlace) -> pa.RecordBatch:
    """The columns of the stream that the rows have."""
    stream = old.entry.stream
    types = {column.name: column.type.arrow for column in stream.columns}
    found = {stream.time: batch.column(TIME).cast(types[stream.time])}
    for made_from, column in _made_from(batch, old.columns):
        if isinstance(made_from, ColumnRef) and made_from.column not in found:
            kind = types[made_from.column]
            both_whole = pa.types.is_integer(kind) and pa.types.is_integer(column.type)
            if column.type == kind or both_whole:
                found[made_from.column] = column.cast(kind)
    return pa.RecordBatch.from_pydict(found)


def _check_available(rows: pa.RecordBatch, parts: Sequence[Expr], new: InputPlace) -> None:
    read = {leaf.column for part in parts for leaf in walk(part) if isinstance(leaf, ColumnRef)}
    lacking = sorted(read.difference(rows.schema.names))
    if lacking:
        why = f"its rows were held without {', '.join(lacking)} of stream {new.stream!r}"
        raise DiffersError("WC427", why)


def conjuncts(condition: Expr | None) -> list[Expr]:
    """The parts that AND ties together, as of the only input."""
    if condition is None:
        return []
    if isinstance(condition, Call) and condition.function == "and":
        return [part for each in condition.arguments for part in conjuncts(each)]
    return [plain_expression(condition)]


def plain_expression(expression: Expr) -> Expr:
    """The expression whatever the place of its input in FROM."""
    if isinstance(expression, ColumnRef):
        return replace(expression, source=0)
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(map(plain_expression, expression.arguments)))
    return expression
