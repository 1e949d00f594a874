"""Joined rows charged to the row of theirs that leaves first.

Purpose: TC, GTC and MTC: a row that leaves takes its charges with it, without a join.
Needs: joined rows in the order of their events; the instants at which rows of timed windows leave.
Time: O(1) a joined row, O(records) a row that leaves. A row that leaves a window of the last rows,
    which nobody foresaw, has its joined rows listed once more and taken from others' records.
Space: a record for each row and group that it is charged for, O(rows) without groups.
Source: paper 1; charged to the first to leave instead of the first to come, so that windows may
    differ in length and kind.

A record holds count, lanes and, as members of the group's heaps, the best ranks of the joined rows
of one group that are charged to one row. Its limbs are not normalised: it never holds so many
joined rows that they run over. Otherwise as in sums.kernels.
"""

from __future__ import annotations

from numpy import uint64

from windrow.compiling.kernels import njit
from windrow.exact.kernels import LIMB_BITS, add_value
from windrow.operators.extremes.kernels import VALUE, change, delete, insert
from windrow.operators.keyed.kernels import FIRST, NOW, NOW_FROM, USED
from windrow.operators.pairs.sums.kernels import write_states
from windrow.windows.kernels import EMPTY

# Entries of a record: joined rows, their group, the row that they are charged to, and its list.
COUNT = 0
GROUP = 1
OWNER = 2
FOLLOWING = 3
PREVIOUS = 4
RECORD_ENTRIES = 5

# Entries of `progress`.
GONE = 0  # the last event whose own charges were taken back
STALE = 1  # records whose best is unknown
EVENT = 2  # how far it came
ROW = 3
PROGRESS_ENTRIES = 4


@njit(cache=True)
def charge_rows(
    first_event, next_event, first_row, size, row_event, row_group, row_record, share, tally_code,
    rank, present, inputs, is_own, event_at, event_input, event_slot, event_sign, masks,
    tally_count, records, record_lanes, record_tally, is_ranked,
    first_record, records_of, stale, stale_list, progress,
    group_count, group_lanes, tallies, roots, heap, last_out, control,
    out_at, out_group, out_count, out_lanes, out_extras,
):  # fmt: skip
    """Charged: a joined row is added to its group and to the record of the row that leaves first.

    Runs events first_event to next_event - 1 and what the block has of next_event, whose first row
    is first_row. Returns whether it came to the end: there may be no room for touches.
    is_own: a row's record has the row's own number. Otherwise a row has a list of records.
    """
    width = group_lanes.shape[1]
    is_plain = masks.size == 0
    is_grouped = row_group.size > 0
    counted = tally_code.shape[0]
    extremes = rank.shape[0]
    row = first_row
    for event in range(first_event, next_event + 1):
        is_leave = event < next_event and event_sign[event] < 0
        has_rows = row < size and row_event[row] == event
        if not is_leave and not has_rows:
            continue
        owner = event_slot[event] * inputs + event_input[event]
        leaving = 1 if is_own else records_of[owner]
        if control[USED] - control[FIRST] + leaving + size - row >= out_at.size:
            progress[EVENT] = event
            progress[ROW] = row
            return False
        if event_at[event] != control[NOW]:
            write_states(
                group_count, group_lanes, tallies, roots, heap, control,
                out_group, out_count, out_lanes, out_extras,
            )  # fmt: skip
            control[NOW] = event_at[event]
            control[NOW_FROM] = control[USED]
        if event_sign[event] < 0 and event > progress[GONE]:
            progress[GONE] = event
            record = owner if is_own else first_record[owner]
            while record != EMPTY:
                after = EMPTY if is_own else records[record, FOLLOWING]
                count = records[record, COUNT]
                group = records[record, GROUP]
                if count != 0:
                    if last_out[group] < control[NOW_FROM]:
                        last_out[group] = control[USED]
                        out_at[control[USED] - control[FIRST]] = event_at[event]
                        out_group[control[USED] - control[FIRST]] = group
                        control[USED] += 1
                    group_count[group] -= count
                    carry = 0
                    for lane in range(width):
                        total = group_lanes[group, lane] - record_lanes[record, lane] + carry
                        kept = total
                        if not is_plain:
                            kept = total & masks[lane]
                            carry = (total - kept) >> LIMB_BITS
                        group_lanes[group, lane] = kept
                        record_lanes[record, lane] = 0
                    for value in range(counted):
                        code = record_tally[record, value]
                        if code != EMPTY:
                            before = tally_count[value, code]
                            tally_count[value, code] = before - count
                            tallies[group, value] -= before == count
                    records[record, COUNT] = 0
                for extreme in range(extremes):
                    if is_ranked[record, extreme]:
                        is_ranked[record, extreme] = 0
                        roots[group, extreme] = delete(
                            roots[group, extreme], record * extremes + extreme, heap
                        )
                record = after
            if not is_own:
                first_record[owner] = EMPTY
                records_of[owner] = 0
        factor = event_sign[event]
        while row < size and row_event[row] == event:
            record = row_record[row]
            if factor < 0 and records[record, OWNER] == owner:
                row += 1  # charged to the row that leaves: it went with the record
                continue
            group = 0
            if is_grouped:
                group = row_group[row]
            if last_out[group] < control[NOW_FROM]:
                last_out[group] = control[USED]
                out_at[control[USED] - control[FIRST]] = event_at[event]
                out_group[control[USED] - control[FIRST]] = group
                control[USED] += 1
            before = records[record, COUNT]
            records[record, COUNT] = before + factor
            group_count[group] += factor
            if before == 0:
                records[record, GROUP] = group
                for value in range(counted):
                    record_tally[record, value] = tally_code[value, row]
                if not is_own:
                    charged = records[record, OWNER]
                    head = first_record[charged]
                    records[record, FOLLOWING] = head
                    records[record, PREVIOUS] = EMPTY
                    if head != EMPTY:
                        records[head, PREVIOUS] = record
                    first_record[charged] = record
                    records_of[charged] += 1
            carry = 0
            for lane in range(width):
                part = share[row, lane] * factor
                record_lanes[record, lane] += part
                total = group_lanes[group, lane] + part + carry
                kept = total
                if not is_plain:
                    kept = total & masks[lane]
                    carry = (total - kept) >> LIMB_BITS
                group_lanes[group, lane] = kept
            for value in range(counted):
                code = tally_code[value, row]
                if code != EMPTY:
                    users = tally_count[value, code]
                    tally_count[value, code] = users + factor
                    tallies[group, value] += int(users + factor != 0) - int(users != 0)
            for extreme in range(extremes):
                if not present[extreme, row]:
                    continue
                member = record * extremes + extreme
                word = rank[extreme, row]
                root = roots[group, extreme]
                if factor < 0:
                    if is_ranked[record, extreme] and heap[member, VALUE] == word:
                        # The best has gone: which is next, only the joined rows that remain know.
                        is_ranked[record, extreme] = 0
                        roots[group, extreme] = delete(root, member, heap)
                        if not stale[record]:
                            stale[record] = 1
                            stale_list[progress[STALE]] = record
                            progress[STALE] += 1
                elif not is_ranked[record, extreme]:
                    is_ranked[record, extreme] = 1
                    heap[member, VALUE] = word
                    roots[group, extreme] = insert(root, member, heap)
                elif word > heap[member, VALUE]:
                    roots[group, extreme] = change(root, member, word, heap)
            if not is_own and before + factor == 0:
                unlink(record, records, first_record, records_of)
            row += 1
    progress[EVENT] = next_event
    progress[ROW] = row
    return True


@njit(cache=True)
def charge_whole(
    first_event, next_event, first_row, size, row_event, row_record, share, inputs,
    event_at, event_input, event_slot, event_sign, masks, records, record_lanes, delta,
    words, kinds, low_limb, progress,
    group_count, group_lanes, tallies, roots, heap, last_out, control,
    out_at, out_group, out_count, out_lanes, out_extras,
):  # fmt: skip
    """The same without groups, distinct values and extremes: a record a row, one touch an event.

    delta: room for the lanes of one event, as one row. There must be room for a touch an event.
    words: what the measures add, one each, where that is spread here (kinds is empty where not).
    """
    width = group_lanes.shape[1]
    measures = kinds.size
    is_plain = masks.size == 0
    row = first_row
    for event in range(first_event, next_event + 1):
        is_leave = event < next_event and event_sign[event] < 0
        if not is_leave and (row == size or row_event[uint64(row)] != event):
            continue
        owner = event_slot[event] * inputs + event_input[event]
        factor = event_sign[event]
        changed = 0
        is_touched = False
        for lane in range(width):
            delta[0, lane] = 0
        if factor < 0 and event > progress[GONE]:
            progress[GONE] = event
            changed = -records[owner, COUNT]
            is_touched = changed != 0
            records[owner, COUNT] = 0
            for lane in range(width):
                delta[0, lane] = -record_lanes[owner, lane]
                record_lanes[owner, lane] = 0
        while row < size and row_event[uint64(row)] == event:
            record = uint64(row_record[uint64(row)])
            if factor > 0 or record != uint64(owner):
                changed += factor
                is_touched = True
                records[record, COUNT] += factor
                for measure in range(measures):
                    word = words[uint64(measure), uint64(row)]
                    base = measure * (width // measures)
                    add_value(word, kinds[measure], factor, low_limb, record_lanes, record, base)
                    add_value(word, kinds[measure], factor, low_limb, delta, 0, base)
                if measures == 0:
                    for number in range(width):
                        lane = uint64(number)
                        part = share[uint64(row), lane] * factor
                        record_lanes[record, lane] += part
                        delta[0, lane] += part
            row += 1
        if not is_touched:
            continue
        if event_at[event] != control[NOW]:
            write_states(
                group_count, group_lanes, tallies, roots, heap, control,
                out_group, out_count, out_lanes, out_extras,
            )  # fmt: skip
            control[NOW] = event_at[event]
            control[NOW_FROM] = control[USED]
        if last_out[0] < control[NOW_FROM]:
            last_out[0] = control[USED]
            out_at[control[USED] - control[FIRST]] = event_at[event]
            out_group[control[USED] - control[FIRST]] = 0
            control[USED] += 1
        group_count[0] += changed
        carry = 0
        for lane in range(width):
            total = group_lanes[0, lane] + delta[0, lane] + carry
            kept = total
            if not is_plain:
                kept = total & masks[lane]
                carry = (total - kept) >> LIMB_BITS
            group_lanes[0, lane] = kept
    progress[EVENT] = next_event
    progress[ROW] = row


@njit(cache=True)
def unlink(record, records, first_record, records_of):
    """Take a record out of the list of its row."""
    owner = records[record, OWNER]
    after = records[record, FOLLOWING]
    before = records[record, PREVIOUS]
    if before == EMPTY:
        first_record[owner] = after
    else:
        records[before, FOLLOWING] = after
    if after != EMPTY:
        records[after, PREVIOUS] = before
    records_of[owner] -= 1


@njit(cache=True)
def rank_again(row_record, rank, present, stale, records, is_ranked, roots, heap):
    """The extremes of stale records, from the joined rows that are charged to them still."""
    extremes = rank.shape[0]
    for row in range(row_record.size):
        record = row_record[row]
        if record == EMPTY or not stale[record]:
            continue
        group = records[record, GROUP]
        for extreme in range(extremes):
            if not present[extreme, row]:
                continue
            member = record * extremes + extreme
            word = rank[extreme, row]
            root = roots[group, extreme]
            if not is_ranked[record, extreme]:
                is_ranked[record, extreme] = 1
                heap[member, VALUE] = word
                roots[group, extreme] = insert(root, member, heap)
            elif word > heap[member, VALUE]:
                roots[group, extreme] = change(root, member, word, heap)
