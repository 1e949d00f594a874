"""Changes as upserts and deletes: net per key, for a table elsewhere that is to equal a result."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.errors import BindingError, DataError
from windrow.plan.expressions import GroupRef
from windrow.plan.model import QueryPlan
from windrow.windows.codes import KeyCoder

__all__ = ["check_unique", "is_key_certain", "net_upserts", "own_key", "upsert_key"]

Codes = NDArray[np.int32]


def upsert_key(plan: QueryPlan, given: Sequence[str] | None) -> tuple[str, ...]:
    """The columns that tell the rows of a result apart: those given, or those that must."""
    names = [column.name for column in plan.select]
    if given is None:
        key = own_key(plan)
        if key is None:
            raise BindingError(
                "WB423",
                "the rows of this result have no natural key",
                hint=(
                    "pass upserts(function, key=[...]) with columns that are unique per row, "
                    "select all GROUP BY columns, or use SELECT DISTINCT"
                ),
            )
        return key
    for name in given:
        if name not in names:
            raise BindingError(
                "WB424",
                f"the key column {name!r} is not in the select list",
                hint=f"its columns are: {', '.join(names)}",
            )
    return tuple(given)


def is_key_certain(plan: QueryPlan, key: Sequence[str]) -> bool:
    """Whether no two rows of a result can ever have the same key."""
    own = own_key(plan)
    return own is not None and set(own) <= set(key)


def own_key(plan: QueryPlan) -> tuple[str, ...] | None:
    """The columns that must tell the rows of a result apart; None when nothing must."""
    if plan.kind == "select":
        return tuple(column.name for column in plan.select) if plan.distinct else None
    shown = {
        column.expression.index: column.name
        for column in plan.select
        if isinstance(column.expression, GroupRef)
    }
    sources = zip(range(len(plan.group_by)), plan.group_sources, strict=True)
    needed = [index for index, source in sources if source is not None]  # constants tell nothing
    if any(index not in shown for index in needed):
        return None
    return tuple(shown[index] for index in needed)


def net_upserts(changes: pa.Table, key: Sequence[str]) -> tuple[pa.Table, pa.Table]:
    """The rows that are there now and were not, or not so, and the last rows of keys that went.

    >>> changes = pa.table({"at": [1, 2, 2], "change": [1, -1, 1], "k": [7, 7, 7], "n": [1, 1, 2]})
    >>> upserts, deletes = net_upserts(changes, ["k"])
    >>> upserts.to_pylist(), deletes.to_pylist()
    ([{'k': 7, 'n': 2}], [])
    """
    rows = changes.drop_columns(["at", "change"])
    code = _codes(rows)
    net = np.zeros(int(code.max(initial=-1)) + 1, np.int64)
    np.add.at(net, code, changes.column("change").to_numpy())
    # Each row once, in the order of its last change.
    last = np.zeros(net.size, np.int64)
    last[code] = np.arange(code.size)
    last.sort()
    net = net[code[last]]
    keys = _codes(rows.select(list(key)))[last]
    comes, goes = net > 0, net < 0
    if (net > 1).any() or np.unique(keys[comes]).size < np.count_nonzero(comes):
        raise _not_unique(key)
    goes &= ~np.isin(keys, keys[comes])
    return rows.take(pa.array(last[comes])), rows.take(pa.array(last[goes]))


def check_unique(result: pa.Table, key: Sequence[str]) -> None:
    """Refuses a result in which a key has two rows."""
    codes = _codes(result.select(list(key)))
    if np.unique(codes).size < result.num_rows:
        raise _not_unique(key)


def _codes(rows: pa.Table) -> Codes:
    """A number for each row, the same for rows that show the same."""
    if rows.num_columns == 0 or rows.num_rows == 0:
        return np.zeros(rows.num_rows, np.int32)
    return KeyCoder(rows.schema.types).acquire([each.combine_chunks() for each in rows.columns])


def _not_unique(key: Sequence[str]) -> DataError:
    return DataError(
        "WD411",
        f"two rows of the result have the same key ({', '.join(key)})",
        hint="give upserts() a key that is unique per row, or use windrow.sinks.foreach()",
    )
