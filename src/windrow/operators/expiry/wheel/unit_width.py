"""How wide the slots of a timing wheel should be, from how rows leave it."""

from __future__ import annotations

from windrow.operators.expiry.wheel import slot_kernels

__all__ = ["better_shift", "first_shift"]

# A step covers this many slots, unless a slot would hold fewer rows than this.
SLOTS_A_STEP = 4
ROWS_A_SLOT = 48
# A wheel is rebuilt only for a width that differs by this many bits.
FEWEST_BITS = 2
# When empty slots are scanned, they become narrower by at least this many bits.
NARROWER_BITS = 3


def first_shift(span: int, rows: int) -> int:
    """The bits of a slot's width when all that is known is some rows that expire within a span."""
    return _bits(ROWS_A_SLOT * span // rows)


def better_shift(shift: int, span: int, steps: int, taken: int, missed: int) -> int:
    """The bits that suit this many steps over a span, in which rows left and others were missed."""
    better = shift
    if span > 0 and taken > 0:
        wanted = _bits(max(span // (SLOTS_A_STEP * steps), ROWS_A_SLOT * span // taken))
        if abs(wanted - shift) >= FEWEST_BITS:
            better = wanted
    if missed > 2 * taken + ROWS_A_SLOT * steps:
        better = max(0, min(better, shift - NARROWER_BITS))
    return better


def _bits(width: int) -> int:
    return min(max(width, 1).bit_length() - 1, slot_kernels.MOST_SHIFT)
