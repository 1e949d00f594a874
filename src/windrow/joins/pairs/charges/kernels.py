"""Joined rows charged to the row of theirs that leaves first.

Purpose: TC, GTC and MTC: a row that leaves takes its charges with it, without a join.
Needs: joined rows in the order of their events; the instants at which rows of timed windows leave.
Time: O(1) a joined row, O(records) a row that leaves. A row that leaves a window of the last rows,
    which nobody foresaw, has its joined rows listed once more and taken from others' records.
Space: a record for each row and group that it is charged for, O(rows) without groups.
Source: paper 1; charged to the first to leave instead of the first to come, so that windows may
    differ in length and kind.

A record holds count, lanes and, as members of the group's heaps, the best ranks of the joined rows
of one group that are charged to one row. Otherwise as in sums.kernels.
"""

from __future__ import annotations

from numba import njit

from windrow.exact.kernels import LIMB_BITS
from windrow.joins.extremes.kernels import VALUE, change, delete, insert
from windrow.joins.kernels import FIRST, NOW, NOW_FROM, USED
from windrow.joins.pairs.sums.kernels import write_states
from windrow.windows.kernels import EMPTY

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
    tally_count, record_owner, record_group, record_count, record_lanes, record_tally, is_ranked,
    following, previous, first_record, records_of, stale, stale_list, progress,
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
                after = EMPTY if is_own else following[record]
                count = record_count[record]
                group = record_group[record]
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
                    record_count[record] = 0
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
            if factor < 0 and record_owner[record] == owner:
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
            before = record_count[record]
            record_count[record] = before + factor
            group_count[group] += factor
            if before == 0:
                record_group[record] = group
                for value in range(counted):
                    record_tally[record, value] = tally_code[value, row]
                if not is_own:
                    charged = record_owner[record]
                    head = first_record[charged]
                    following[record] = head
                    previous[record] = EMPTY
                    if head != EMPTY:
                        previous[head] = record
                    first_record[charged] = record
                    records_of[charged] += 1
            carry = 0
            record_carry = 0
            for lane in range(width):
                part = share[row, lane] * factor
                total = group_lanes[group, lane] + part + carry
                mine = record_lanes[record, lane] + part + record_carry
                kept = total
                record_kept = mine
                if not is_plain:
                    kept = total & masks[lane]
                    carry = (total - kept) >> LIMB_BITS
                    record_kept = mine & masks[lane]
                    record_carry = (mine - record_kept) >> LIMB_BITS
                group_lanes[group, lane] = kept
                record_lanes[record, lane] = record_kept
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
                unlink(record, record_owner, following, previous, first_record, records_of)
            row += 1
    progress[EVENT] = next_event
    progress[ROW] = row
    return True


@njit(cache=True)
def unlink(record, record_owner, following, previous, first_record, records_of):
    """Take a record out of the list of its row."""
    owner = record_owner[record]
    after = following[record]
    before = previous[record]
    if before == EMPTY:
        first_record[owner] = after
    else:
        following[before] = after
    if after != EMPTY:
        previous[after] = before
    records_of[owner] -= 1


@njit(cache=True)
def rank_again(row_record, rank, present, stale, record_group, is_ranked, roots, heap):
    """The extremes of stale records, from the joined rows that are charged to them still."""
    extremes = rank.shape[0]
    for row in range(row_record.size):
        record = row_record[row]
        if record == EMPTY or not stale[record]:
            continue
        group = record_group[record]
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
