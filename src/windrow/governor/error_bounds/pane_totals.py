"""The panes of a profile in the order of time, so that many widths can be judged at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windrow.governor.error_bounds import kernels
from windrow.governor.error_bounds.intervals import Floats

__all__ = ["PaneTotals", "totals_of_cells"]


@dataclass(frozen=True)
class PaneTotals:
    """Of one measure (or of rows), by pane and group: what cells hold, about one centre a group.

    The centre is near the mean of all values; deviation and squares are sums of distances from it.
    Rounding is not accounted for: these serve to judge widths, not to bound answers.
    """

    first_pane: int
    center: Floats
    count: Floats
    positive: Floats
    negative: Floats
    deviation: Floats
    squares: Floats
    lowest: Floats
    highest: Floats


def totals_of_cells(cells: Floats, measure: int | None, first_pane: int) -> PaneTotals:
    """Totals of cells[pane, group, lane], in the order of time."""
    if measure is None:
        count = cells[:, :, kernels.ROWS]
        nothing = np.zeros_like(count)
        return PaneTotals(first_pane, nothing[0], count, *[nothing] * 6)
    base = kernels.MEASURES + kernels.MEASURE_LANES * measure
    count, positive, negative, anchor, deviation, squares, lowest, highest = (
        cells[:, :, base + lane] for lane in range(kernels.MEASURE_LANES)
    )
    is_used = count > 0
    with np.errstate(all="ignore"):
        center = _mean(count, positive + negative)
        shift = anchor - center
        deviations = deviation + count * shift
        moved = squares + 2 * shift * deviation + count * shift * shift
        # Squares that are not known, as those of merged panes, are as large as they can be.
        is_moved = np.isfinite(moved)
        farthest = np.maximum(highest - center, center - lowest)
        deviations = np.where(is_moved, deviations, positive + negative - count * center)
        moved = np.where(is_moved, np.maximum(moved, 0), count * farthest * farthest)
    return PaneTotals(
        first_pane, center, count, positive, negative,
        np.where(is_used, deviations, 0.0), np.where(is_used, moved, 0.0),
        np.where(is_used, lowest, np.inf), np.where(is_used, highest, -np.inf),
    )  # fmt: skip


def _mean(count: Floats, total: Floats) -> Floats:
    """By group, of all panes but those in which a value is NaN or infinite."""
    usable = np.isfinite(total)
    values = np.where(usable, count, 0).sum(axis=0)
    sums = np.where(usable, total, 0).sum(axis=0)
    return np.where(np.isfinite(sums) & (values > 0), sums / np.maximum(values, 1), 0.0)
