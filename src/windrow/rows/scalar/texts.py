"""Functions of text. Characters are Unicode code points; positions count from 1, as in Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from windrow.rows.scalar.values import Function, map_distinct, over_arrays, per_value
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


def _cased(kernel: Any, by_python: Callable[[str], str]) -> Function:
    """Letters of one case: Arrow knows single letters only, and that SS is a capital of two."""

    def apply(arguments: list[Any], _kind: ColumnType) -> Any:
        (column,) = arguments
        plain = pc.string_is_ascii(column)
        if pc.all(plain, min_count=0).as_py():
            return kernel(column)
        rare = map_distinct(column, lambda text: text and by_python(text), pa.string())
        return pc.if_else(plain, kernel(column), rare)

    return over_arrays(apply)


TEXTS: dict[str, Function] = {
    "lower": _cased(pc.ascii_lower, str.lower),
    "upper": _cased(pc.ascii_upper, str.upper),
    "length": lambda arguments, _kind: pc.utf8_length(arguments[0]).cast(pa.int32()),
    "concat": _concat,
    "substring": _substring,
    "trim": lambda arguments, _kind: pc.utf8_trim(arguments[0], " "),
    "like": lambda arguments, _kind: pc.match_like(arguments[0], arguments[1].as_py()),
}
