"""Functions of text. Characters are Unicode code points; positions count from 1, as in Spark."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from windrow.rows.scalar.values import Function, per_value
from windrow.schema import ColumnType

__all__ = ["TEXTS"]


def _concat(arguments: list[Any], _kind: ColumnType) -> Any:
    return pc.binary_join_element_wise(*arguments, "", null_handling="emit_null")


def _substring(arguments: list[Any], kind: ColumnType) -> Any:
    text, *bounds = arguments
    if any(not isinstance(bound, pa.Scalar) or not bound.is_valid for bound in bounds):
        return _SUBSTRING_OF_ANY(arguments, kind)
    start, *rest = (value.as_py() for value in arguments[1:])
    begin = start - 1 if start > 0 else start
    if not rest:
        return pc.utf8_slice_codeunits(text, begin)
    if rest[0] <= 0:
        return pc.utf8_slice_codeunits(text, 0, 0)
    end = begin + rest[0]
    # Counted from the end of the text, an end at or after it means all that is left.
    past = begin < 0 <= end
    return pc.utf8_slice_codeunits(text, begin, None if past else end)


def _part(text: str, start: int, count: int | None = None) -> str:
    begin = start - 1 if start > 0 else start + len(text) if start < 0 else 0
    end = len(text) if count is None else begin + count
    return text[max(0, begin) : max(0, end)]


_SUBSTRING_OF_ANY = per_value(_part)
TEXTS: dict[str, Function] = {
    "lower": lambda arguments, _kind: pc.utf8_lower(arguments[0]),
    "upper": lambda arguments, _kind: pc.utf8_upper(arguments[0]),
    "length": lambda arguments, _kind: pc.utf8_length(arguments[0]).cast(pa.int32()),
    "concat": _concat,
    "substring": _substring,
    "trim": lambda arguments, _kind: pc.utf8_trim(arguments[0], " "),
    "like": lambda arguments, _kind: pc.match_like(arguments[0], arguments[1].as_py()),
}
