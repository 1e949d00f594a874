"""Turns under a new decision, for which no query waits longer than the delay that it tolerates.

Turns that run go on: where a group stays and its turns still fit, they end when they would have
ended anyway, and new windows take theirs in the gaps. Otherwise the windows of a group have their
first turns in the order of the instants until which their queries can wait. A window that has
begun to grow may go first, and then grows on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from windrow.governor.figures import WindowFigures
from windrow.governor.groups.turning import is_group
from windrow.governor.running import Running
from windrow.governor.tables import Demand, Turn, WidthGiven

__all__ = ["NO_CLOCKS", "CalmTurns", "calm_turns"]

NO_CLOCKS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True)
class CalmTurns:
    """The turn of each window. late_us: how much longer than its delay a query waits at most."""

    turns: dict[str, Turn]
    late_us: int


@dataclass(frozen=True)
class _Member:
    """One window of a group at the instant of the decision.

    until_us: when its turn must have ended. width_us: how far back it reaches, at most its narrow
    width unless it is growing. needed_us: how wide it must be then; where tolerances have become
    smaller since its turn was decided, as wide as that is. turn: the one that runs. is_known: it
    was there before.
    """

    figures: WindowFigures
    until_us: int
    needed_us: int
    width_us: int
    is_growing: bool
    turn: Turn | None
    is_known: bool = True

    @property
    def name(self) -> str:
        return self.figures.window

    @property
    def growth_us(self) -> int:
        return self.figures.growth_us


def calm_turns(
    groups: Iterable[Sequence[WindowFigures]],
    widths: Sequence[WidthGiven],
    demands: Iterable[Demand],
    running: Running,
    at_us: int,
    clocks_us: Mapping[str, int] = NO_CLOCKS,
) -> CalmTurns:
    """The turns of groups from an instant on; widths: of all windows, those between turns.

    clocks_us: through which windows have answered that are behind; they were served no later.

    >>> one = WindowFigures("a", 1.0, growth_us=3, period_us=9, least_us=10)
    >>> two = WindowFigures("b", 1.0, growth_us=5, period_us=8, least_us=10)
    >>> found = calm_turns([[one, two]], [], [], {}, at_us=100)
    >>> found.turns["b"], found.late_us  # which can wait less long
    (Turn(group=0, period_us=8, start_us=100, growth_us=5), 0)
    """
    asked: dict[str, list[Demand]] = {}
    for demand in demands:
        if demand.delay_us and demand.window in running:
            asked.setdefault(demand.window, []).append(demand)
    turns: dict[str, Turn] = {}
    late_us = 0
    for number, group in enumerate(groups):
        assert is_group(group), "growths that do not fit into a period"
        members = [
            _member(
                each, asked.get(each.window, ()), running, at_us, clocks_us.get(each.window, at_us)
            )
            for each in group
        ]
        found, late = _going_on(number, members, at_us) or _packed(number, members, at_us)
        turns.update(found)
        late_us = max(late_us, late)
    constant = [each for each in widths if each.window not in turns]
    late_us = max([late_us, *(_late_constant(each, asked, running, at_us) for each in constant)])
    return CalmTurns(turns, late_us)


def _member(
    figures: WindowFigures,
    demands: Sequence[Demand],
    running: Running,
    at_us: int,
    clock_us: int,
) -> _Member:
    before, narrow_us = running.get(figures.window), figures.least_us - figures.growth_us
    if before is None:
        until = min(at_us, clock_us) + figures.period_us
        return _Member(figures, until, figures.least_us, narrow_us, False, None, False)
    waiting = [each for each in demands if each.least_us > narrow_us]
    clock_us = min(at_us, max(clock_us, before.since_us))
    until_us = [before.served_at(each.query, clock_us) + each.delay_us for each in waiting]
    until_us.append(at_us + figures.period_us)
    known = {each.query: each.least_us for each in before.waiting}
    needed_us = max(
        (min(each.least_us, known.get(each.query, each.least_us)) for each in waiting),
        default=figures.least_us,
    )
    reach_us, turn = before.width_at(at_us), before.given.turn
    is_growing = turn is not None and narrow_us < reach_us < needed_us
    return _Member(figures, min(until_us), needed_us, reach_us, is_growing, turn)


def _late_constant(
    given: WidthGiven,
    asked: Mapping[str, Sequence[Demand]],
    running: Running,
    at_us: int,
) -> int:
    """How late a window is that is wide enough once it has grown, and then stays so."""
    late_us = 0
    for each in asked.get(given.window, ()):
        before = running[given.window]
        missing_us = each.least_us - before.width_at(at_us)
        if missing_us > 0:
            waits_us = at_us + missing_us - before.served_at(each.query, at_us)
            late_us = max(late_us, waits_us - each.delay_us)
    return late_us


# ---- turns that run go on


def _going_on(
    number: int, members: Sequence[_Member], at_us: int
) -> tuple[dict[str, Turn], int] | None:
    """The turns where all that run can go on, or all but one, which has another gap then."""
    found = _kept(number, members, at_us)
    for other in () if found is not None else members:
        if other.turn is not None and found is None:
            moved = [replace(each, turn=None) if each is other else each for each in members]
            found = _kept(number, moved, at_us)
    return found


def _kept(
    number: int, members: Sequence[_Member], at_us: int
) -> tuple[dict[str, Turn], int] | None:
    """The turns where all that run can go on as they are; None where they cannot."""
    old = [each for each in members if each.turn is not None]
    periods = {each.turn.period_us for each in old if each.turn is not None}
    if len(periods) != 1:
        return None
    (period_us,) = periods
    if period_us > min(each.figures.period_us for each in members):
        return None
    ends: dict[str, int] = {}
    for each in old:
        assert each.turn is not None
        ends[each.name] = _end_after(each.turn, at_us)
    taken = [(ends[each.name], each.growth_us) for each in old]
    if not _are_apart(taken, period_us):
        return None
    if any(_ready_us(each, at_us) > ends[each.name] for each in old):
        return None
    for each in members:
        if each.turn is None:
            end_us = _gap(each, taken, period_us, at_us)
            if end_us is None:
                return None
            ends[each.name] = end_us
            taken.append((end_us, each.growth_us))
    return {each.name: _turn(number, each, period_us, ends[each.name]) for each in members}, 0


def _turn(number: int, member: _Member, period_us: int, end_us: int) -> Turn:
    """The turn with that end; one that goes on began when the first one of its kind did.

    A window that is behind has still to answer at an end that is over here.
    """
    if member.turn is not None:
        end_us = member.turn.start_us + member.turn.growth_us
    return Turn(number, period_us, end_us - member.growth_us, member.growth_us)


def _end_after(turn: Turn, at_us: int) -> int:
    """The end of the turn that runs or comes next; one that ends now has ended."""
    first_us = turn.start_us + turn.growth_us
    return at_us + turn.period_us - (at_us - first_us) % turn.period_us


def _ready_us(member: _Member, at_us: int) -> int:
    """When it could be wide enough at the earliest, if it lets nothing go from now on."""
    return at_us + max(0, member.needed_us - member.width_us)


def _are_apart(taken: Sequence[tuple[int, int]], period_us: int) -> bool:
    """Whether turns, by end and growth, do not overlap, now and in all periods to come."""
    ordered = sorted((end_us % period_us, growth_us) for end_us, growth_us in taken)
    before = ordered[-1][0] - period_us if ordered else 0
    for end_us, growth_us in ordered:
        if end_us - growth_us < before:
            return False
        before = end_us
    return True


def _gap(
    member: _Member, taken: Sequence[tuple[int, int]], period_us: int, at_us: int
) -> int | None:
    """The earliest end of a turn that has room between those taken; None: there is none."""
    earliest_us = max(at_us + member.growth_us, _ready_narrow_us(member, at_us))
    ends = [earliest_us]
    for end_us, _ in taken:  # right behind one of the others
        after_us = end_us + member.growth_us
        ends.append(earliest_us + (after_us - earliest_us) % period_us)
    for end_us in sorted(ends):
        if end_us <= member.until_us and _are_apart(
            [*taken, (end_us, member.growth_us)], period_us
        ):
            return end_us
    return None


def _ready_narrow_us(member: _Member, at_us: int) -> int:
    """The same for one that has to begin with its narrow width."""
    narrow_us = member.figures.least_us - member.growth_us
    return at_us + member.figures.least_us - min(narrow_us, member.width_us)


# ---- a group that begins anew


def _packed(number: int, members: Sequence[_Member], at_us: int) -> tuple[dict[str, Turn], int]:
    """Turns in the order of how long their queries can wait; the least late way.

    Between turns there is the time that is left in a period, if nobody waits longer for that: with
    it turns can become longer and still end when they do. Windows that nothing is known of follow
    each other at once.
    """
    best: tuple[dict[str, Turn], int] | None = None
    for first in [None, *(each for each in members if each.is_growing)]:
        for share in (1, 2, 0):
            found = _in_order(number, members, first, at_us, share)
            if found is not None and (best is None or found[1] < best[1]):
                best = found
            if best is not None and best[1] <= 0:
                return best[0], 0
    assert best is not None
    return best


def _in_order(
    number: int, members: Sequence[_Member], first: _Member | None, at_us: int, share: int
) -> tuple[dict[str, Turn], int] | None:
    """share: of the time that is left, all (1), half (2) or nothing (0) is between the turns."""
    period_us = min(each.figures.period_us for each in members)
    left_us = period_us - sum(each.growth_us for each in members)
    is_new = all(each.turn is None and not each.is_known for each in members)
    pause_us = left_us // len(members) // share if share and not is_new else 0
    others = sorted((each for each in members if each is not first), key=lambda each: each.until_us)
    turns: dict[str, Turn] = {}
    late_us, next_us, begun_us = 0, at_us, None
    for each in [*([] if first is None else [first]), *others]:
        if each is first:
            start_us = _ready_us(each, at_us) - each.growth_us
        else:
            start_us = max(next_us, _ready_narrow_us(each, at_us) - each.growth_us)
        begun_us = start_us if begun_us is None else begun_us
        turns[each.name] = Turn(number, period_us, start_us, each.growth_us)
        end_us = start_us + each.growth_us
        late_us = max(late_us, end_us - each.until_us)
        next_us = end_us + pause_us
    assert begun_us is not None
    if end_us <= begun_us + period_us:
        return turns, late_us
    if first is not None or share:
        return None
    # Some wait until they can be wide enough: all begin when the last of them is.
    for each in others:
        turns[each.name] = Turn(number, period_us, end_us, each.growth_us)
        end_us += each.growth_us
        late_us = max(late_us, end_us - each.until_us)
    return turns, late_us
