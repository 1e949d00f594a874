"""From a width that was decided to the order for one input: how long its rows stay from now on."""

from __future__ import annotations

from windrow.governor.governed_input import GovernedInput
from windrow.governor.tables import Demand, WidthGiven
from windrow.windows.lifetime import Lifetime

__all__ = ["WORTH_CHANGING", "lifetime_for", "order_width"]

# A width that differs by less than this factor is not worth an order, unless memory is short.
WORTH_CHANGING = 1.02


def order_width(
    read: GovernedInput, given: WidthGiven, demand: Demand, at_us: int, *, is_short: bool
) -> bool:
    """Order another width, where that is worth it; whether it was."""
    if not read.may_change(at_us):
        return False
    wanted, now = lifetime_for(read, given, demand), read.ordered_lifetime
    if (now.hold_us, now.turn_ends) == (wanted.hold_us, wanted.turn_ends):
        return False
    is_full = wanted.hold_us == read.full_lifetime.hold_us
    is_close = now.hold_us < WORTH_CHANGING * wanted.hold_us < WORTH_CHANGING**2 * now.hold_us
    is_turning = now.turn_ends is not None or wanted.turn_ends is not None
    is_enough = now.hold_us > demand.least_us
    if is_close and is_enough and not (is_turning or is_full or is_short):
        return False
    read.order(wanted)
    return True


def lifetime_for(read: GovernedInput, given: WidthGiven, demand: Demand) -> Lifetime:
    """How long rows stay for a demand in a window of the given width."""
    spec, full = read.spec, read.full_lifetime
    width = min(demand.range_us, given.width_us)
    if given.turn is not None and given.level(demand) == "C":
        turn = given.turn
        narrow = full.narrowed(width, read.narrows_from_us)
        return narrow.turning(turn.start_us, turn.period_us, turn.growth_us)
    if spec.traits.moves_in_steps:
        width -= width % spec.slide_us
    elif width < demand.range_us:
        # Panes of the tail end where the rows held begin, unless that is less than was asked for.
        even = width - width % read.pane_us
        width = even if even >= demand.least_us else width
    return full.narrowed(width, read.narrows_from_us)
