"""NaN as a condition, and conditions that must hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.rows.scalar.values import Checked, Function, over_arrays, true_where
from windrow.schema import ColumnType

__all__ = ["CONDITIONS"]


def _is_nan(arguments: list[Any], _kind: ColumnType) -> Any:
    return true_where(pc.is_nan(arguments[0]))


def _unless_nan(arguments: list[Any], _kind: ColumnType) -> Any:
    value, other = arguments
    return pc.if_else(true_where(pc.is_nan(value)), other, value)


def _demanded(arguments: list[Any], kind: ColumnType) -> Any:
    """NULL where the condition is true, a fault everywhere else."""
    condition = arguments[0]
    if isinstance(condition, pa.Scalar):
        return Checked(pa.scalar(None, kind.arrow), np.array([condition.as_py() is not True]))
    wrong = ~true_where(condition).to_numpy(zero_copy_only=False)
    return Checked(pa.nulls(len(condition), kind.arrow), wrong if wrong.any() else None)


def _raised(arguments: list[Any], kind: ColumnType) -> Any:
    (message,) = arguments
    if isinstance(message, pa.Scalar):
        return Checked(pa.scalar(None, kind.arrow), np.array([True]))
    return Checked(pa.nulls(len(message), kind.arrow), np.ones(len(message), np.bool_))


CONDITIONS: dict[str, Function] = {
    "isnan": over_arrays(_is_nan),
    "nanvl": over_arrays(_unless_nan),
    "assert_true": _demanded,
    "raise_error": _raised,
}
