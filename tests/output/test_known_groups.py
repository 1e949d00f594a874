"""Groups by their values: codes that last, also of decimals that need two words."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa

from windrow.output.known_groups import KnownGroups

WIDE = pa.decimal128(38, 2)
# All have the same low word.
VALUES = [Decimal(5 + high * 2**64).scaleb(-2) for high in (0, 1, -1, 2**60)]


def test_wide_decimals_are_told_apart() -> None:
    groups = KnownGroups([WIDE, pa.string()])
    columns = [pa.array([*VALUES, None, VALUES[0]], WIDE), pa.array(["a"] * 6)]
    codes = groups.codes_of(columns, 6)
    assert len({*codes.tolist()}) == 5
    assert codes[0] == codes[5]
    assert groups.columns(codes)[0].to_pylist() == [*VALUES, None, VALUES[0]]
    in_order = np.array([4, 2, 0, 1, 3])
    assert np.argsort(groups.rank(codes[:5])).tolist() == in_order.tolist()


def test_forgotten_ones_are_named_anew() -> None:
    groups = KnownGroups([WIDE])
    codes = groups.codes_of([pa.array(VALUES, WIDE)], 4)
    used = np.zeros(8, np.bool_)
    used[codes[1]] = True
    groups.forget_others(used)
    assert groups.known().tolist() == [codes[1]]
    again = groups.codes_of([pa.array(VALUES[::-1], WIDE)], 4)
    assert again[2] == codes[1]
    assert groups.columns(again)[0].to_pylist() == VALUES[::-1]
