"""Exact sums against fractions: any order, any cancellation, in and out again."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.exact import kernels
from windrow.operators.lanes import LaneLayout, moved, read_value

finite = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e16, -1e16, 1e300, -1e300, 0.1, 1.0, 1.7e308]),
)
integers = st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9)
NO_FLAGS = np.empty(0, np.uint8)


def bits_of(value: float) -> int:
    return struct.unpack("<q", struct.pack("<d", value))[0]


def words(values: list[float] | list[int], kind: int) -> np.ndarray:
    if kind == kernels.INTEGER:
        return np.array(values, np.int64)
    return np.array([bits_of(value) for value in values], np.int64)


def spread_all(values: list[float] | list[int], kind: int) -> tuple[np.ndarray, int]:
    """Lanes of each value, in the smallest layout that holds them."""
    found = np.array([1 << 30, -1, 0], np.int64)
    kernels.limb_range(words(values, kind), NO_FLAGS, kind, found)
    low, high = (int(found[0]), int(found[1])) if found[1] >= 0 else (34, 36)
    width = kernels.COUNTER_LANES + high - low + kernels.HEADROOM_LIMBS
    lanes = np.zeros((len(values), width), np.int64)
    for row, word in enumerate(words(values, kind)):
        kernels.spread(word, kind, low, kernels.COUNTER_LANES, lanes, row, 0)
    return lanes, low


def doubles_of(limbs: np.ndarray, low: int) -> list[float]:
    out = np.empty(limbs.shape[0], np.float64)
    kernels.to_doubles(np.ascontiguousarray(limbs), low, out)
    return out.tolist()


def nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


@given(st.lists(finite, min_size=1, max_size=12), st.data())
def test_sums_of_doubles(values: list[float], data: st.DataObject) -> None:
    lanes, low = spread_all(values, kernels.DOUBLE)
    limbs = lanes[:, kernels.COUNTER_LANES :]
    assert doubles_of(limbs, low) == values  # each alone, bit for bit but the sign of zero
    leaving = data.draw(st.lists(st.sampled_from(range(len(values))), unique=True))
    total = limbs.sum(axis=0) - limbs[leaving].sum(axis=0)
    left = [Fraction(v) for i, v in enumerate(values) if i not in leaving]
    (found,) = doubles_of(total[None, :], low)
    exact = sum(left, Fraction(0))
    assert found == nearest(exact)
    assert lanes[:, kernels.VALID_LANE].sum() == len(values)


@given(st.lists(integers, min_size=1, max_size=12))
def test_sums_of_integers(values: list[int]) -> None:
    lanes, low = spread_all(values, kernels.INTEGER)
    total = lanes[:, kernels.COUNTER_LANES :].sum(axis=0)
    exact = sum(int(limb) << (32 * i) for i, limb in enumerate(total)) if low == 34 else None
    assert exact == sum(values)
    (found,) = doubles_of(total[None, :], low)
    assert found == float(sum(values))


def test_special_values_are_counted_apart() -> None:
    values = [math.nan, math.inf, math.inf, -math.inf, 1.0]
    lanes, low = spread_all(values, kernels.DOUBLE)
    assert lanes[:, : kernels.COUNTER_LANES].sum(axis=0).tolist() == [5, 1, 2, 1]
    assert doubles_of(lanes[:, kernels.COUNTER_LANES :].sum(axis=0)[None, :], low) == [1.0]


def test_zeros_and_special_values_ask_for_no_limbs() -> None:
    found = np.array([1 << 30, -1, 0], np.int64)
    special = [0.0, -0.0, math.nan, math.inf, -math.inf]
    kernels.limb_range(words(special, kernels.DOUBLE), NO_FLAGS, kernels.DOUBLE, found)
    assert found.tolist() == [1 << 30, -1, 3]
    flags = np.array([0], np.uint8)
    kernels.limb_range(words([1e300], kernels.DOUBLE), flags, kernels.DOUBLE, found)
    assert found.tolist() == [1 << 30, -1, 3]


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([1e16, 1.0, -1e16], 1.0),
        ([1e300, 1e-300, -1e300], 1e-300),
        ([1.7e308, 1.7e308], math.inf),
        ([-1.7e308, -1.7e308], -math.inf),
        ([1.7e308, 1.7e308, -1.7e308], 1.7e308),
        ([0.1] * 10, 1.0),
        ([5e-324, -5e-324], 0.0),
        ([5e-324] * 3, 1.5e-323),
        ([2.0**53, 1.0, 1.0], 2.0**53 + 2),
    ],
)
def test_sums_that_plain_addition_gets_wrong(values: list[float], wanted: float) -> None:
    lanes, low = spread_all(values, kernels.DOUBLE)
    assert doubles_of(lanes[:, kernels.COUNTER_LANES :].sum(axis=0)[None, :], low) == [wanted]


@given(st.floats(1.0, 2.0, exclude_max=True), st.integers(-1074, 1023))
def test_scaling_by_powers_of_two(value: float, exponent: int) -> None:
    assert kernels.scale_by_power(value, exponent) == math.ldexp(value, exponent)


@given(st.lists(st.integers(-(2**61), 2**61), min_size=1, max_size=6))
def test_a_state_keeps_its_value_through_every_wider_layout(sums: list[int]) -> None:
    layouts = [LaneLayout.smallest(((kernels.INTEGER,),))]
    layouts.append(layouts[-1].nullable())
    layouts += [layouts[-1].reaching(0, 0), layouts[-1].reaching(30, 40)]
    layouts.append(layouts[-1].reaching(0, 67))
    counts = np.arange(1, len(sums) + 1)
    lanes = np.array(sums, np.int64)[:, None]
    for old, new in pairwise(layouts):
        lanes = moved(lanes, counts[:, None], old, new)
        read = read_value(lanes, counts, new, 0)
        assert read.valid.tolist() == counts.tolist()
        if read.narrow is not None:
            assert read.narrow.tolist() == sums
            continue
        weights = [1 << (32 * (i + read.low_limb)) for i in range(read.limbs.shape[1])]
        found = [sum(w * int(x) for w, x in zip(weights, row, strict=True)) for row in read.limbs]
        assert [total >> (32 * kernels.INTEGER_LIMB) for total in found] == sums
