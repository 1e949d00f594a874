"""Functions of structs."""

from __future__ import annotations

from windrow.scalar_functions.entry import Kind, ScalarFunction
from windrow.scalar_functions.rules import as_first

__all__ = ["STRUCTS"]

STRUCTS: tuple[ScalarFunction, ...] = (
    ScalarFunction("struct", (Kind.ANY,), as_first, repeats=True,
                   example="STRUCT(i, t).i", value="-7"),
    ScalarFunction("named_struct", (Kind.ANY, Kind.ANY), as_first, repeats=True, is_form=True,
                   example="NAMED_STRUCT('a', 1, 'b', 2).b", value="2"),
)  # fmt: skip
