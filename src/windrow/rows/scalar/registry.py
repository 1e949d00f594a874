"""All implementations by name: those of operators, and of every function of scalar_functions."""

from __future__ import annotations

from windrow.rows.scalar.arithmetic import ARITHMETIC
from windrow.rows.scalar.arrays import ARRAYS
from windrow.rows.scalar.casts import CASTS
from windrow.rows.scalar.comparisons import COMPARISONS
from windrow.rows.scalar.maps import MAPS
from windrow.rows.scalar.quotients import QUOTIENTS
from windrow.rows.scalar.rounding import ROUNDING
from windrow.rows.scalar.squares import SQUARES
from windrow.rows.scalar.structs import STRUCTS
from windrow.rows.scalar.texts import TEXTS
from windrow.rows.scalar.values import Function

__all__ = ["FUNCTIONS"]

FUNCTIONS: dict[str, Function] = {
    **ARITHMETIC,
    **QUOTIENTS,
    **COMPARISONS,
    **CASTS,
    **ROUNDING,
    **SQUARES,
    **STRUCTS,
    **ARRAYS,
    **MAPS,
    **TEXTS,
}
