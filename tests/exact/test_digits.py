"""Digits against fractions: values cut, summed, multiplied, moved between layouts and read."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from windrow.exact import digit_kernels, kernels
from windrow.operators.digits import Cut, DigitForm, DigitLanes, chosen_forms, forms_holding
from windrow.operators.lanes import LaneLayout, moved, read_value

NO_FLAGS = np.empty(0, np.uint8)
everyday = st.one_of(
    st.integers(-1000, 1000).map(lambda n: n / 4),
    st.floats(-1e6, 1e6, allow_subnormal=False),
    st.floats(-1.0, 1.0, width=32, allow_subnormal=False),
    st.sampled_from([0.0, -0.0, 0.1, 0.2, 0.3, 1e16, -1e16, 1.0, 2.0**40]),
)


def range_of(values: list[float]) -> tuple[int, int, int]:
    found = np.array([1 << 30, -(1 << 30), 0], np.int64)
    words = np.array(values, np.float64).view(np.int64)
    digit_kernels.bit_range(words, NO_FLAGS, kernels.DOUBLE, found)
    low, high, special = found.tolist()
    return (low, high, special) if low < high else (0, 0, special)


def fitted(values: list[float], rows: int) -> LaneLayout:
    low, high, special = range_of(values)
    chosen = chosen_forms([(low, high)], [kernels.DOUBLE], rows)
    assume(chosen is not None and not special)
    assert chosen is not None
    return LaneLayout(((kernels.DOUBLE,),)).with_digits(*chosen)


def digits_of(value: float, layout: LaneLayout) -> list[int]:
    cut = Cut.of((kernels.DOUBLE,), layout.forms, layout.digit_bits)
    base = 2.0**layout.digit_bits
    lanes = zip(cut.scales, cut.above, strict=True)
    found = [int(digit_kernels.digit_of(value, scale, above, base)) for scale, above in lanes]
    return found if layout.forms[0].digits else []


def exact(digits: list[int], layout: LaneLayout) -> Fraction:
    low = Fraction(2) ** layout.forms[0].low_bit
    return sum((d * low * 2 ** (layout.digit_bits * i) for i, d in enumerate(digits)), Fraction(0))


def total_of(read: object) -> Fraction:
    limbs = [int(limb) for limb in read.limbs[0]]  # type: ignore[attr-defined]
    weights = [kernels.LIMB_BITS * (i + read.low_limb) for i in range(len(limbs))]  # type: ignore[attr-defined]
    return sum(
        (
            limb * Fraction(2) ** (w + kernels.LOWEST_BIT)
            for limb, w in zip(limbs, weights, strict=True)
        ),
        Fraction(0),
    )


@given(st.lists(everyday, min_size=1, max_size=8), st.integers(1, 1 << 36))
def test_digits_are_the_value_and_fit(values: list[float], rows: int) -> None:
    layout = fitted(values, rows)
    for value in values:
        digits = digits_of(value, layout)
        assert exact(digits, layout) == Fraction(value)
        assert all(abs(digit) * rows < 1 << 61 for digit in digits)


@given(st.lists(st.tuples(everyday, st.integers(-(10**6), 10**6)), min_size=1, max_size=8))
def test_sums_of_digits_are_read_as_the_nearest_double(parts: list[tuple[float, int]]) -> None:
    layout = fitted([value for value, _ in parts], 10**7)
    width = layout.lane_count
    lanes = np.zeros((1, width), np.int64)
    for value, times in parts:
        lanes[0] += np.array(digits_of(value, layout), np.int64) * times
    wanted = sum((Fraction(value) * times for value, times in parts), Fraction(0))
    read = read_value(lanes, np.array([len(parts)]), layout, 0)
    assert isinstance(read, DigitLanes)
    assert read.doubles().tolist() == [float(wanted)]
    assert not width or total_of(read) == wanted
    # The same number in limbs is the same double.
    wide = layout.reaching(0, 0)
    limbs = moved(lanes, np.array([[len(parts)]]), layout, wide)
    out = np.empty(1, np.float64)
    kernels.to_doubles(limbs, wide.low_limb, out)
    assert out.tolist() == [float(wanted)]


@given(
    st.lists(st.tuples(everyday, st.integers(-1000, 1000)), min_size=1, max_size=6),
    st.lists(everyday, max_size=4),
    st.integers(1 << 20, 1 << 38),
)
def test_sums_keep_their_value_in_other_digits(
    parts: list[tuple[float, int]], more: list[float], rows: int
) -> None:
    values = [value for value, _ in parts]
    layouts = [fitted(values, 1 << 16), fitted(values + more, rows)]
    layouts.append(layouts[0].holding(layouts[1]).nullable())
    layouts.append(layouts[-1].reaching(20, 40))
    lanes = np.zeros((1, layouts[0].lane_count), np.int64)
    for value, times in parts:
        lanes[0] += np.array(digits_of(value, layouts[0]), np.int64) * times
    wanted = sum((Fraction(value) * times for value, times in parts), Fraction(0))
    counts, old = np.array([[7]]), layouts[0]
    for new in layouts[1:]:
        lanes = moved(lanes, counts, old, new)
        read = read_value(lanes, counts[:, 0], new, 0)
        assert read.valid.tolist() == [7]
        assert not read.limbs.size or total_of(read) == wanted
        old = new


@pytest.mark.parametrize(
    ("values", "scale", "limit", "wanted"),
    [
        ([0.25, -3.5, 0.0], 4.0, 14.0, True),
        ([0.25, -3.5], 4.0, 13.0, False),
        ([0.125], 4.0, 100.0, False),
        ([math.nan], 4.0, 100.0, False),
        ([math.inf], 4.0, 100.0, False),
        ([1e-300], 2.0**-200, 100.0, False),
        ([0.0, -0.0], 1.0, 0.0, True),
        ([1.0], 1.0, 0.0, False),
    ],
)
def test_whole_numbers_of_a_power_of_two_are_known(
    values: list[float], scale: float, limit: float, wanted: bool
) -> None:
    array = np.array(values)
    assert digit_kernels.are_whole(array, NO_FLAGS, scale, limit) == wanted
    none = np.zeros(array.size, np.uint8)
    assert digit_kernels.are_whole(array, none, scale, limit)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_the_range_of_bits_is_the_smallest(values: list[float]) -> None:
    low, high, _ = range_of(values)
    parts = [Fraction(value) for value in values if value]
    assume(parts)
    assert all(part / Fraction(2) ** low % 1 == 0 for part in parts)
    assert any(part / Fraction(2) ** (low + 1) % 1 for part in parts)
    assert Fraction(2) ** (high - 1) <= max(map(abs, parts)) < Fraction(2) ** high


def test_integers_of_any_size_have_their_range() -> None:
    found = np.array([1 << 30, -(1 << 30), 0], np.int64)
    words = np.array([-(2**63), 5], np.int64)
    digit_kernels.bit_range(words[1:], NO_FLAGS, kernels.INTEGER, found)
    assert found.tolist() == [0, 3, 0]
    digit_kernels.bit_range(words, NO_FLAGS, kernels.INTEGER, found)
    assert found.tolist() == [0, 64, 0]


def test_what_no_digits_hold_has_none() -> None:
    double, integer = [kernels.DOUBLE], [kernels.INTEGER]
    assert chosen_forms([(-1000, 900)], double, 10) is None
    assert chosen_forms([(-60, 10)], double, 1 << 50) is None
    assert chosen_forms([(-900, -860)], double, 10) is None
    assert chosen_forms([(0, 54)], integer, 10) is None
    assert chosen_forms([(0, 0)], double, 10) == (27, (DigitForm(0, 0),))


def test_what_holds_two_forms_is_as_fine_and_as_large_as_both() -> None:
    bits, forms = forms_holding((27, (DigitForm(2, -10),)), (20, (DigitForm(1, -40),)))
    assert (bits, forms) == (20, (DigitForm(4, -40),))
    assert forms_holding((27, (DigitForm(0, 0),)), (27, (DigitForm(0, 0),)))[1][0].digits == 0
