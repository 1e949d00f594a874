"""What a setting's query must answer, from all rows that lie in the windows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from papers.join_aggregate.arrivals import Arrivals, Setting

__all__ = ["true_result"]


def true_result(setting: Setting, past: Sequence[Arrivals]) -> dict[int, int]:
    """Joined rows of each key at the end of the last phase; of all keys together under -1."""
    low_us = past[-1].end_us - round(setting.window_s * 1_000_000)
    product = np.ones(setting.keys, np.int64)
    for stream in range(setting.streams):
        held = [each.keys[(each.streams == stream) & (each.times >= low_us)] for each in past]
        product *= np.bincount(np.concatenate(held), minlength=setting.keys)
    if not setting.is_grouped:
        return {-1: int(product.sum())}
    return {int(key): int(product[key]) for key in np.flatnonzero(product)}
