"""Updates of an instant are in the order of their groups, whether instants have few or many."""

from __future__ import annotations

import numpy as np
import pytest

from windrow.output import group_kernels
from windrow.output.row_log import renumbered


@pytest.mark.parametrize("instants", [1, 3, 40, 5_000])
def test_updates_of_an_instant_are_in_order_of_their_ranks(instants: int) -> None:
    rng = np.random.default_rng(instants)
    at = np.sort(rng.integers(0, instants, 500))
    rank = rng.integers(0, 60, at.size).astype(np.int32)
    order = np.empty(at.size, np.int64)
    group_kernels.order_in_instants(at, rank, 60, order)
    assert order.tolist() == np.lexsort((rank, at)).tolist()


@pytest.mark.parametrize("size", [100, 10_000])
def test_what_is_referred_to_is_numbered_in_order(size: int) -> None:
    rng = np.random.default_rng(size)
    references = [rng.integers(-1, 100, count) for count in (50, 0, 30)]
    kept, renamed = renumbered(references, size)
    assert kept.tolist() == sorted({each for part in references for each in part.tolist()} - {-1})
    for old, new in zip(references, renamed, strict=True):
        assert [each if each < 0 else kept[each] for each in new.tolist()] == old.tolist()
