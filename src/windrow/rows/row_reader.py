"""One plain row, checked and laid out in the order of the stream's columns, in a single call.

The function is written for its stream as text, and compiled once: a loop over the columns that
looks up what is known of each type takes several times as long. The text has no name and no value
of a user in it: these are handed over as names c0, c1, ... of the namespace.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from windrow.compiling.written import written
from windrow.rows.row_checks import UNFIT, Check, checks_of_stream
from windrow.schema import StreamSchema

__all__ = ["FROM_US", "TO_US", "PlainRow", "RowReader", "row_reader", "values_reader"]

PlainRow = tuple[Any, ...]
RowReader = Callable[[Any], "PlainRow | None"]

# Between these a number can be nothing but microseconds since 1970 (epoch_times): 1973 to 5138.
FROM_US, TO_US = 10**14, 10**17
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_TIMES = {
    "datetime": datetime,
    "EPOCH": _EPOCH,
    "NO_ZONE": _EPOCH.replace(tzinfo=None),
    "MICROSECOND": _MICROSECOND,
}
# A time as Python has it becomes a number; without a zone it is one of UTC.
_MOMENTS = (
    "    if type({v}) is datetime:\n"
    "        {v} = ({v} - (NO_ZONE if {v}.tzinfo is None else EPOCH)) // MICROSECOND\n"
)
_CHECK = (
    "    {word} not ({plain}):\n"
    "        {v} = c{i}({v})\n"
    "        if {v} is UNFIT:\n"
    "            return None\n"
)
_INLINE = {"STRING": "type({v}) is str and {v}.isascii()", "BOOLEAN": "type({v}) is bool"}


def row_reader(stream: StreamSchema) -> RowReader:
    """Reads dicts of the stream: the values in the order of its columns; None: not surely one.

    >>> from windrow.schema import columns_of
    >>> read = row_reader(StreamSchema("s", columns_of("ts timestamp, x int"), "ts"))
    >>> read({"x": 1, "ts": datetime(1970, 1, 2)}), read({"ts": 86400000000, "x": "one"})
    ((86400000000, 1), None)
    """
    names = [column.name for column in stream.columns]
    picked = "\n".join(f"        {v} = row[n{v}]" for v in _variables(stream))
    head = (
        f"    try:\n{picked}\n    except KeyError:\n        return sparse(row)\n"
        f"    if len(row) != {len(names)}:\n        return None\n"
    )
    checks = checks_of_stream(stream)
    given = {f"nv{i}": name for i, name in enumerate(names)}
    return _compiled(stream, head, given | {"sparse": _Sparse(names, checks, stream.time)})


def values_reader(stream: StreamSchema) -> RowReader:
    """Reads tuples of values in the order of the columns.

    >>> from windrow.schema import columns_of
    >>> read = values_reader(StreamSchema("s", columns_of("ts timestamp, x int"), "ts"))
    >>> read(("1970-01-02", 1)), read((1,))
    ((86400000000, 1), None)
    """
    count = len(stream.columns)
    head = f"    if len(row) != {count}:\n        return None\n"
    head += f"    {', '.join(_variables(stream))}, = row\n"
    return _compiled(stream, head, {})


def _variables(stream: StreamSchema) -> list[str]:
    return [f"v{i}" for i in range(len(stream.columns))]


def _compiled(stream: StreamSchema, head: str, given: dict[str, Any]) -> RowReader:
    checks = checks_of_stream(stream)
    lines = [f"def read(row):\n{head}"]
    for i, column in enumerate(stream.columns):
        kinds, v = checks[column.name], f"v{i}"
        given[f"c{i}"] = _Column(kinds, is_time=column.name == stream.time)
        plain, word = _inline(column.type.name, kinds.get(int), column.type.is_float, v), "if"
        if column.name == stream.time:
            counts = stream.options.unit is None
            plain = f"type({v}) is int and {FROM_US} <= {v} < {TO_US}" if counts else "False"
            if column.type.name == "TIMESTAMP":
                lines.append(_MOMENTS.format(v=v))
                word = "elif"
        lines.append(_CHECK.format(word=word, plain=plain, v=v, i=i))
    lines.append(f"    return ({', '.join(_variables(stream))},)\n")
    namespace: dict[str, Any] = {"UNFIT": UNFIT, **_TIMES, **given}
    read: RowReader = written("".join(lines), "read", namespace)
    return read


def _inline(kind: str, integers: Check | None, is_float: bool, v: str) -> str:
    """A test that most values of a column pass, as an expression."""
    if is_float:
        return f"type({v}) is float"
    if type(integers) is tuple and kind in ("TINYINT", "SMALLINT", "INT", "BIGINT"):
        return f"type({v}) is int and {integers[0]} <= {v} <= {integers[1]}"
    return _INLINE.get(kind, "False").format(v=v)


class _Column:
    """The full check of one column's values; times become microseconds."""

    def __init__(self, checks: dict[type, Check], *, is_time: bool) -> None:
        self._checks, self._is_time = checks, is_time

    def __call__(self, value: Any) -> Any:
        check = self._checks.get(type(value), False)
        if type(check) is tuple:
            return value if check[0] <= value <= check[1] else UNFIT
        if check is False:
            return UNFIT
        found = value if check is True else check(value)  # type: ignore[operator]
        if self._is_time and type(found) is datetime:
            zoned = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
            return (zoned - _EPOCH) // _MICROSECOND
        return found


class _Sparse:
    """Rows that lack some of the columns: these are NULL."""

    def __init__(self, names: list[str], checks: dict[str, dict[type, Check]], time: str) -> None:
        self._columns = {name: _Column(checks[name], is_time=name == time) for name in names}

    def __call__(self, row: dict[str, Any]) -> PlainRow | None:
        if not row.keys() <= self._columns.keys():
            return None
        found = tuple(check(row.get(name)) for name, check in self._columns.items())
        return None if UNFIT in found else found
