"""Joined rows into states of groups: their shares, and the incremental sums of them.

Purpose: IC and GIC: what a row joins with is added when it enters and subtracted when it leaves.
Needs: joined rows in the order of their events; aggregates that can be retracted (no extremes).
Time: O(1) a joined row, twice in its life. Space: O(groups).
Source: paper 1.

The structures are those of ../arrays.py: rows (JoinedArrays or WholeArrays), events (MergedArrays),
states (GroupArrays) and output (UpdateArrays).

Output: a group that changes gets a place for the instant; its state is written there when the
instant is over. Places count from the beginning of time, as in keyed/kernels.py.
"""

from __future__ import annotations

from numpy import uint64

from windrow.compiling.kernels import inlined, njit
from windrow.exact.kernels import (
    INTEGER,
    LIMB_BITS,
    VALID_LANE,
    add_value,
    spread,
    spread_product,
)
from windrow.operators.extremes.kernels import VALUE
from windrow.operators.keyed.kernels import FIRST, NOW, NOW_FROM, USED
from windrow.windows.kernels import AHEAD, EMPTY, LARGE_TABLE, prefetch


@njit(cache=True)
def share_narrow_rows(words, valid, term_measure, term_words, measures, valid_from, share):
    """Lanes of joined rows, one a measure; whether it is valid from lane valid_from on (or EMPTY).

    valid has no rows where every measure is valid. term_words: the one or two words of each term.
    """
    checked = valid.shape[0] > 0
    terms = term_measure.size
    for i in range(share.shape[0]):
        row = uint64(i)
        for measure in range(measures):
            share[row, uint64(measure)] = 0
        for term in range(terms):
            left = words[uint64(term_words[term, 0]), row]
            if term_words[term, 1] != EMPTY:
                left *= words[uint64(term_words[term, 1]), row]
            share[row, uint64(term_measure[term])] += left
        if valid_from != EMPTY:
            for measure in range(measures):
                is_valid = not checked or valid[measure, i] != 0
                share[i, valid_from + measure] = is_valid
                if not is_valid:
                    share[i, measure] = 0


@njit(cache=True)
def share_wide_rows(
    words, word_kind, valid, kinds, first_term, term_words, low_limb, counters, width, share
):
    """Exact lanes of joined rows: single values, or sums of products of two."""
    checked = valid.shape[0] > 0
    for i in range(share.shape[0]):
        for lane in range(share.shape[1]):
            share[i, lane] = 0
        for measure in range(kinds.size):
            if checked and valid[measure, i] == 0:
                continue
            base = measure * width
            first = first_term[measure]
            last = first_term[measure + 1]
            word = term_words[first, 0]
            if last == first + 1 and term_words[first, 1] == EMPTY:
                spread(words[word, i], kinds[measure], low_limb, counters, share, i, base)
                continue
            if counters > 0:
                share[i, base + VALID_LANE] = 1
            for term in range(first, last):
                word = term_words[term, 0]
                other = term_words[term, 1]
                factor = 1
                kind = INTEGER
                if other != EMPTY:
                    factor = words[other, i]
                    kind = word_kind[other]
                spread_product(
                    words[word, i], word_kind[word], factor, kind,
                    low_limb, counters, share, i, base,
                )  # fmt: skip


@njit(cache=True)
def write_states(states, output):
    """Write the states of the groups that changed at this instant."""
    write_updates(states, output)


@inlined
def write_updates(states, output):
    """The same, within kernels."""
    row_count, lanes, _, tallies, roots, heap, _, _ = states
    control, _, out_group, out_count, out_lanes, out_extras = output
    first = control[FIRST]
    extremes = roots.shape[1]
    counted = tallies.shape[1]
    for number in range(control[NOW_FROM], control[USED]):
        place = number - first
        group = out_group[place]
        out_count[place] = row_count[group]
        for lane in range(lanes.shape[1]):
            out_lanes[place, lane] = lanes[group, lane]
        for value in range(counted):
            out_extras[place, value] = tallies[group, value]
        for extreme in range(extremes):
            root = roots[group, extreme]
            out_extras[place, counted + extreme] = 0 if root == EMPTY else heap[root, VALUE]
            out_extras[place, counted + extremes + extreme] = root != EMPTY


@inlined
def come_to(at, states, output):
    """An event is at this instant: where it is a later one, what came before is written."""
    if at != output.control[NOW]:
        write_updates(states, output)
        output.control[NOW] = at
        output.control[NOW_FROM] = output.control[USED]


@inlined
def note_update(group, at, states, output):
    """Have a place for a group's state at this instant."""
    if states.last_out[group] < output.control[NOW_FROM]:
        used = output.control[USED]
        states.last_out[group] = used
        output.at[used - output.control[FIRST]] = at
        output.group[used - output.control[FIRST]] = group
        output.control[USED] = used + 1


@inlined
def add_lanes(group, source, row, factor, states):
    """Add factor times a row of lanes to those of a group."""
    carry = 0
    is_plain = states.masks.size == 0
    for number in range(states.lanes.shape[1]):
        lane = uint64(number)
        total = states.lanes[group, lane] + source[row, lane] * factor + carry
        kept = total
        if not is_plain:
            kept = total & states.masks[lane]
            carry = (total - kept) >> LIMB_BITS
        states.lanes[group, lane] = kept


@inlined
def count_value(group, value, code, change, states):
    """There are more or fewer joined rows with one value in a group."""
    if code != EMPTY:
        before = states.tally_count[value, code]
        states.tally_count[value, code] = before + change
        states.tallies[group, value] += int(before + change != 0) - int(before != 0)


@njit(cache=True)
def add_rows(rows, events, states, output):
    """Incremental: joined rows of a row that enters are added, of one that leaves subtracted.

    There must be room for one update a row.
    """
    row_event, row_group, share, tally_code, _, _ = rows
    event_at, _, _, event_sign = events
    row_count = states.row_count
    is_grouped = row_group.size > 0
    counted = tally_code.shape[0]
    for i in range(row_event.size):
        row = uint64(i)
        event = uint64(row_event[row])
        come_to(event_at[event], states, output)
        group = uint64(0)
        if is_grouped:
            group = uint64(row_group[row])
        note_update(group, event_at[event], states, output)
        factor = event_sign[event]
        row_count[group] += factor
        add_lanes(group, share, row, factor, states)
        for value in range(counted):
            count_value(group, value, tally_code[value, row], factor, states)


@njit(cache=True)
def add_counts(at, group, delta, is_distinct, states, output):
    """Groups that have a count and nothing else, by what it changes by, in order of time.

    is_distinct: only whether there is any counts. There must be room for one update each.
    """
    row_count, last_out = states.row_count, states.last_out
    control, out_at, out_group, out_count, _, _ = output
    now = control[NOW]
    used = control[USED]
    now_from = control[NOW_FROM]
    first = control[FIRST]
    fetches = row_count.size > LARGE_TABLE
    for change in range(at.size):
        if fetches and change + AHEAD < at.size:
            prefetch(row_count, group[change + AHEAD])
            prefetch(last_out, group[change + AHEAD])
        if at[change] != now:
            for place in range(now_from - first, used - first):
                out_count[place] = row_count[out_group[place]]
            now = at[change]
            now_from = used
        own = group[change]
        before = row_count[own]
        row_count[own] = before + delta[change]
        if is_distinct and before > 0 and row_count[own] > 0:
            continue
        if last_out[own] < now_from:
            last_out[own] = used
            out_at[used - first] = now
            out_group[used - first] = own
            used += 1
    control[NOW] = now
    control[USED] = used
    control[NOW_FROM] = now_from


@njit(cache=True)
def add_whole(rows, low_limb, events, states, output):
    """The same without groups and distinct values: one change of the state an event."""
    row_event, share, words, kinds, delta = rows
    event_at, _, _, event_sign = events
    row_count = states.row_count
    size = row_event.size
    measures = kinds.size
    width = delta.shape[1]
    row = 0
    while row < size:
        event = row_event[uint64(row)]
        for lane in range(width):
            delta[0, lane] = 0
        first = row
        while row < size and row_event[uint64(row)] == event:
            for measure in range(measures):
                word = words[uint64(measure), uint64(row)]
                base = measure * (width // measures)
                add_value(word, kinds[measure], 1, low_limb, delta, 0, base)
            if measures == 0:
                for number in range(width):
                    delta[0, uint64(number)] += share[uint64(row), uint64(number)]
            row += 1
        come_to(event_at[event], states, output)
        note_update(0, event_at[event], states, output)
        factor = event_sign[event]
        row_count[0] += factor * (row - first)
        add_lanes(0, delta, 0, factor, states)
