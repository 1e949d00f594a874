"""Exact products of two words against fractions; what is not finite follows IEEE."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windrow.exact import kernels

LOW_LIMB = -36  # below the square of the smallest double
LANES = 160

integers = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63)])
doubles = st.floats() | st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1.7e308, math.inf, -math.inf])
factors = st.one_of(
    st.tuples(st.just(kernels.INTEGER), integers), st.tuples(st.just(kernels.DOUBLE), doubles)
)


def word(kind: int, value: float) -> np.int64:
    if kind == kernels.INTEGER:
        return np.int64(value)
    return np.int64(struct.unpack("<q", struct.pack("<d", value))[0])


@given(st.lists(st.tuples(factors, factors), max_size=4))
def test_products_add_up_exactly(pairs: list[tuple[tuple[int, float], tuple[int, float]]]) -> None:
    lanes = np.zeros((1, LANES), np.int64)
    wanted = Fraction(0)
    special = [0, 0, 0]
    for (x_kind, x), (y_kind, y) in pairs:
        kernels.spread_product(
            word(x_kind, x), x_kind, word(y_kind, y), y_kind,
            LOW_LIMB, kernels.COUNTER_LANES, lanes, 0, 0,
        )  # fmt: skip
        if math.isfinite(x) and math.isfinite(y):
            wanted += Fraction(x) * Fraction(y)
        else:
            product = float(x) * float(y)
            special[0 if math.isnan(product) else 1 if product > 0 else 2] += 1
    assert lanes[0, kernels.NAN_LANE : kernels.COUNTER_LANES].tolist() == special
    limbs = lanes[0, kernels.COUNTER_LANES :].tolist()
    weight = Fraction(2) ** (kernels.LIMB_BITS * LOW_LIMB + kernels.LOWEST_BIT)
    total = sum(limb << (kernels.LIMB_BITS * place) for place, limb in enumerate(limbs))
    assert total * weight == wanted
