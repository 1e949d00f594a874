"""Common functions of text, by Arrow's kernels where one has Spark's meaning.

Characters are Unicode code points; positions count from 1. Where an argument that a kernel wants as
a constant is a column, the value-by-value twin in text_values.py serves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from windrow.rows.scalar.text_values import TEXT_VALUES
from windrow.rows.scalar.values import Function, map_distinct, over_arrays
from windrow.schema import ColumnType

__all__ = ["TEXTS"]


def _concat(arguments: list[Any], _kind: ColumnType) -> Any:
    return pc.binary_join_element_wise(*arguments, "", null_handling="emit_null")


def _concat_with(arguments: list[Any], _kind: ColumnType) -> Any:
    """The separator comes first; NULL among the others is left out."""
    separator, *parts = arguments
    nothing = pa.scalar(None, pa.string())
    if len(parts) < 2:
        only = pc.coalesce(parts[0], pa.scalar("")) if parts else ""
        return pc.if_else(pc.is_valid(separator), only, nothing)
    between = pc.coalesce(separator, pa.scalar(""))
    joined = pc.binary_join_element_wise(*parts, between, null_handling="skip")
    return pc.if_else(pc.is_valid(separator), joined, nothing)


def _cased(kernel: Any, by_python: Callable[[str], str]) -> Function:
    """Letters of one case: Arrow changes letter by letter, so that it has no SS for a sharp s."""

    def apply(arguments: list[Any], _kind: ColumnType) -> Any:
        (column,) = arguments
        plain = pc.string_is_ascii(column)
        if pc.all(plain, min_count=0).as_py():
            return kernel(column)
        rare = map_distinct(column, lambda text: text and by_python(text), pa.string())
        return pc.if_else(plain, kernel(column), rare)

    return over_arrays(apply)


def _if_constant(name: str, kernel: Callable[..., Any]) -> Function:
    """The kernel where all arguments but the first are constants, else value by value."""

    def apply(arguments: list[Any], kind: ColumnType) -> Any:
        column, *others = arguments
        if all(isinstance(each, pa.Scalar) and each.is_valid for each in others):
            found = kernel(column, *(each.as_py() for each in others))
            if found is not None:
                return found if found.type == kind.arrow else found.cast(kind.arrow)
        return TEXT_VALUES[name](arguments, kind)

    return apply


def _substring(text: Any, start: int, count: int | None = None) -> Any:
    begin = start - 1 if start > 0 else start
    if count is None:
        return pc.utf8_slice_codeunits(text, begin)
    if count <= 0:
        return pc.utf8_slice_codeunits(text, 0, 0)
    end = begin + count
    # Counted from the end of the text, an end at or after it means all that is left.
    past = begin < 0 <= end
    return pc.utf8_slice_codeunits(text, begin, None if past else end)


def _left(text: Any, count: int) -> Any:
    return pc.utf8_slice_codeunits(text, 0, max(0, count))


def _right(text: Any, count: int) -> Any:
    return _left(text, 0) if count <= 0 else pc.utf8_slice_codeunits(text, -count)


def _trim(kernel: Any) -> Callable[..., Any]:
    # Without characters to take off Arrow refuses, and Spark changes nothing.
    return lambda text, characters=" ": kernel(text, characters) if characters else text


def _replace(text: Any, old: str, new: str = "") -> Any:
    return pc.replace_substring(text, old, new) if old else text


def _position(text: Any, part: str) -> Any:
    """Arrow counts bytes, which are characters in ASCII only."""
    plain = (
        pc.all(pc.string_is_ascii(text), min_count=0) if not isinstance(text, pa.Scalar) else None
    )
    if plain is None or not plain.as_py():
        return None
    return pc.add(pc.find_substring(text, part), 1)


def _length(unit: int) -> Function:
    def apply(arguments: list[Any], _kind: ColumnType) -> Any:
        return pc.multiply(pc.binary_length(arguments[0]), pa.scalar(unit, pa.int32()))

    return apply


def _characters(arguments: list[Any], _kind: ColumnType) -> Any:
    (value,) = arguments
    is_text = pa.types.is_string(value.type)
    return (pc.utf8_length(value) if is_text else pc.binary_length(value)).cast(pa.int32())


@over_arrays
def _repeat(arguments: list[Any], _kind: ColumnType) -> Any:
    text, count = arguments
    return pc.binary_repeat(text, pc.max_element_wise(count, 0, skip_nulls=False))


TEXTS: dict[str, Function] = {
    **TEXT_VALUES,
    "lower": _cased(pc.ascii_lower, str.lower),
    "upper": _cased(pc.ascii_upper, str.upper),
    "length": _characters,
    "octet_length": _length(1),
    "bit_length": _length(8),
    "concat": _concat,
    "concat_ws": over_arrays(_concat_with),
    "substring": _if_constant("substring", _substring),
    "left": _if_constant("left", _left),
    "right": _if_constant("right", _right),
    **{name: _if_constant("trim", _trim(pc.utf8_trim)) for name in ("trim", "btrim")},
    "ltrim": _if_constant("ltrim", _trim(pc.utf8_ltrim)),
    "rtrim": _if_constant("rtrim", _trim(pc.utf8_rtrim)),
    "replace": _if_constant("replace", _replace),
    "reverse": lambda arguments, _kind: pc.utf8_reverse(arguments[0]),
    "repeat": _repeat,
    "instr": _if_constant("instr", _position),
    "contains": _if_constant("contains", pc.match_substring),
    "startswith": _if_constant("startswith", pc.starts_with),
    "endswith": _if_constant("endswith", pc.ends_with),
    **dict.fromkeys(["validate_utf8"], lambda arguments, _kind: arguments[0]),
    "is_valid_utf8": lambda arguments, _kind: pc.if_else(
        pc.is_valid(arguments[0]), True, pa.scalar(None, pa.bool_())
    ),
}
