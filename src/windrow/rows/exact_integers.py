"""Sums and products of integers, however large: one row after the other, where 64 bits are few."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.plan.expressions import Call, Expr
from windrow.rows.faults import Faults, any_of, where_reached
from windrow.rows.scalar.words import words_of_integers

__all__ = ["exact_word"]

Integers = list[int | None]
# The value of any other part, and its faults.
ValueOf = Callable[[Expr], tuple[Any, Faults]]

_EXACT: dict[str, Callable[..., int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "negate": operator.neg,
}


def exact_word(word: Call, value_of: ValueOf) -> tuple[pa.Array, Faults]:
    """A word of an argument of any size; one value, or one for each row."""
    values, faults = _integers(word.arguments[0], value_of)
    found = words_of_integers(values, word.function)
    there = np.array([value is not None for value in values], np.bool_)
    missing = there & ~found.is_valid().to_numpy(zero_copy_only=False)
    faults = any_of(faults, missing if missing.any() else None)
    return (found[0] if len(values) == 1 else found), faults


def _integers(part: Expr, value_of: ValueOf) -> tuple[Integers, Faults]:
    if isinstance(part, Call) and part.function in _EXACT and part.type.name == "BIGINT":
        return _computed(part, value_of)
    if isinstance(part, Call) and part.function == "case":
        return _chosen(part, value_of)
    value, faults = value_of(part)
    is_one = isinstance(value, pa.Scalar)
    return ([value.as_py()] if is_one else value.to_pylist()), faults


def _computed(part: Call, value_of: ValueOf) -> tuple[Integers, Faults]:
    found = [_integers(each, value_of) for each in part.arguments]
    size = max(len(values) for values, _ in found)
    columns = [values * size if len(values) == 1 else values for values, _ in found]
    rows = zip(*columns, strict=True)
    compute = _EXACT[part.function]
    faults = None
    for _, each in found:
        faults = any_of(faults, each)
    return [None if None in row else compute(*row) for row in rows], faults


def _chosen(part: Call, value_of: ValueOf) -> tuple[Integers, Faults]:
    """CASE: the value behind the first condition that holds."""
    conditions = [value_of(each) for each in part.arguments[:-1:2]]
    values = [_integers(each, value_of) for each in (*part.arguments[1::2], part.arguments[-1])]
    held = [truth.as_py() if isinstance(truth, pa.Scalar) else truth for truth, _ in conditions]
    sizes = [len(each) for each, _ in values]
    sizes += [1 if isinstance(truth, pa.Scalar) else len(truth) for truth, _ in conditions]
    size = max(sizes)
    flags = [each.to_pylist() if isinstance(each, pa.Array) else [each] * size for each in held]
    columns = [each * size if len(each) == 1 else each for each, _ in values]
    found: Integers = []
    for row in range(size):
        place = next((i for i, each in enumerate(flags) if each[row]), len(flags))
        found.append(columns[place][row])
    # The same rule by which a CASE that does not overflow reaches its branches.
    given: list[Any] = []
    faults: list[Faults] = []
    for (truth, fault), (_, other) in zip(conditions, values[:-1], strict=True):
        given += [truth, None]
        faults += [fault, other]
    return found, where_reached("case", [*given, None], [*faults, values[-1][1]])
