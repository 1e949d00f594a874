"""Joined rows charged to the row of theirs that leaves first.

Purpose: TC, GTC and MTC: a row that leaves takes its charges with it, without a join.
Needs: joined rows in the order of their events; the instants at which rows of timed windows leave.
Time: O(1) a joined row, O(records) a row that leaves. A row that leaves a window of the last rows,
    which nobody foresaw, has its joined rows listed once more and taken from others' records.
Space: a record for each row and group that it is charged for, O(rows) without groups.
Source: paper 1; charged to the first to leave instead of the first to come, so that windows may
    differ in length and kind.

A record holds count, lanes and, as members of the group's heaps, the best ranks of the joined rows
of one group that are charged to one row. Its limbs are not normalised: it never holds enough
joined rows that they run over. Structures are as in sums/kernels.py; `charged` is RecordArrays.
"""

from __future__ import annotations

from numpy import uint64

from windrow.compiling.kernels import inlined, njit
from windrow.exact.kernels import add_value
from windrow.operators.extremes.kernels import VALUE, change, delete, insert
from windrow.operators.keyed.kernels import FIRST, USED
from windrow.operators.pairs.sums.kernels import add_lanes, come_to, count_value, note_update
from windrow.windows.kernels import EMPTY

# Entries of a record: joined rows, their group, the row that they are charged to, and its list.
COUNT = 0
GROUP = 1
OWNER = 2
FOLLOWING = 3
PREVIOUS = 4
RECORD_ENTRIES = 5

# Entries of `progress`.
GONE = 0  # the last event whose own charges were subtracted
STALE = 1  # records whose best is unknown
EVENT = 2  # how far it came
ROW = 3
PROGRESS_ENTRIES = 4


@njit(cache=True)
def charge_rows(next_event, rows, row_record, inputs, is_own, events, charged, states, output):
    """Charged: a joined row is added to its group and to the record of the row that leaves first.

    Goes on where `progress` says, up to next_event and with what the block has of that. Returns
    whether it came to the end: there may be no room for updates. is_own: a row's record has the
    row's own number. Otherwise a row has a list of records.
    """
    row_event, row_group, share, tally_code, rank, present = rows
    event_at, event_input, event_slot, event_sign = events
    records, record_lanes, record_tally, is_ranked = charged[:4]
    stale, stale_list, first_record, records_of, progress = charged[4:]
    row_count, roots, heap = states.row_count, states.roots, states.heap
    control, room = output.control, output.at.size
    size = row_event.size
    width = record_lanes.shape[1]
    is_grouped = row_group.size > 0
    counted = tally_code.shape[0]
    extremes = rank.shape[0]
    row = progress[ROW]
    for event in range(progress[EVENT], next_event + 1):
        is_leave = event < next_event and event_sign[event] < 0
        has_rows = row < size and row_event[row] == event
        if not is_leave and not has_rows:
            continue
        at = event_at[event]
        owner = event_slot[event] * inputs + event_input[event]
        leaving = 1 if is_own else records_of[owner]
        if control[USED] - control[FIRST] + leaving + size - row >= room:
            progress[EVENT] = event
            progress[ROW] = row
            return False
        come_to(at, states, output)
        factor = event_sign[event]
        if factor < 0 and event > progress[GONE]:
            progress[GONE] = event
            record = owner if is_own else first_record[owner]
            while record != EMPTY:
                after = EMPTY if is_own else records[record, FOLLOWING]
                take_back(record, at, charged, states, output)
                record = after
            if not is_own:
                first_record[owner] = EMPTY
                records_of[owner] = 0
        while row < size and row_event[row] == event:
            record = row_record[row]
            if factor < 0 and records[record, OWNER] == owner:
                row += 1  # charged to the row that leaves: it went with the record
                continue
            group = 0
            if is_grouped:
                group = row_group[row]
            note_update(group, at, states, output)
            before = records[record, COUNT]
            records[record, COUNT] = before + factor
            row_count[group] += factor
            if before == 0:
                records[record, GROUP] = group
                for value in range(counted):
                    record_tally[record, value] = tally_code[value, row]
                if not is_own:
                    link(record, records, first_record, records_of)
            for lane in range(width):
                record_lanes[record, lane] += share[row, lane] * factor
            add_lanes(group, share, row, factor, states)
            for value in range(counted):
                count_value(group, value, tally_code[value, row], factor, states)
            for extreme in range(extremes):
                if not present[extreme, row]:
                    continue
                word = rank[extreme, row]
                if factor > 0:
                    rank_record(record, group, extreme, word, is_ranked, roots, heap)
                    continue
                member = record * extremes + extreme
                if is_ranked[record, extreme] and heap[member, VALUE] == word:
                    # The best has gone: which is next, only the joined rows that remain know.
                    is_ranked[record, extreme] = 0
                    roots[group, extreme] = delete(roots[group, extreme], member, heap)
                    if not stale[record]:
                        stale[record] = 1
                        stale_list[progress[STALE]] = record
                        progress[STALE] += 1
            if not is_own and before + factor == 0:
                unlink(record, records, first_record, records_of)
            row += 1
    progress[EVENT] = next_event
    progress[ROW] = row
    return True


@inlined
def take_back(record, at, charged, states, output):
    """The row that joined rows are charged to leaves: so do they."""
    group = charged.records[record, GROUP]
    count = charged.records[record, COUNT]
    if count != 0:
        note_update(group, at, states, output)
        states.row_count[group] -= count
        add_lanes(group, charged.lanes, record, -1, states)
        for lane in range(charged.lanes.shape[1]):
            charged.lanes[record, lane] = 0
        for value in range(charged.tally.shape[1]):
            count_value(group, value, charged.tally[record, value], -count, states)
        charged.records[record, COUNT] = 0
    extremes = states.roots.shape[1]
    for extreme in range(extremes):
        if charged.is_ranked[record, extreme]:
            charged.is_ranked[record, extreme] = 0
            root, member = states.roots[group, extreme], record * extremes + extreme
            states.roots[group, extreme] = delete(root, member, states.heap)


@njit(cache=True)
def charge_whole(next_event, rows, row_record, inputs, low_limb, events, charged, states, output):
    """The same without groups, distinct values and extremes: a record a row, one update an event.

    There must be room for an update an event.
    """
    row_event, share, words, kinds, delta = rows
    event_at, event_input, event_slot, event_sign = events
    records, record_lanes, progress = charged.records, charged.lanes, charged.progress
    row_count = states.row_count
    size = row_event.size
    width = delta.shape[1]
    measures = kinds.size
    row = progress[ROW]
    for event in range(progress[EVENT], next_event + 1):
        is_leave = event < next_event and event_sign[event] < 0
        if not is_leave and (row == size or row_event[uint64(row)] != event):
            continue
        owner = event_slot[event] * inputs + event_input[event]
        factor = event_sign[event]
        changed = 0
        is_updated = False
        for lane in range(width):
            delta[0, lane] = 0
        if factor < 0 and event > progress[GONE]:
            progress[GONE] = event
            changed = -records[owner, COUNT]
            is_updated = changed != 0
            records[owner, COUNT] = 0
            for lane in range(width):
                delta[0, lane] = -record_lanes[owner, lane]
                record_lanes[owner, lane] = 0
        while row < size and row_event[uint64(row)] == event:
            record = uint64(row_record[uint64(row)])
            if factor > 0 or record != uint64(owner):
                changed += factor
                is_updated = True
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
        if is_updated:
            come_to(event_at[event], states, output)
            note_update(0, event_at[event], states, output)
            row_count[0] += changed
            add_lanes(0, delta, 0, 1, states)
    progress[EVENT] = next_event
    progress[ROW] = row


@inlined
def link(record, records, first_record, records_of):
    """Put a record into the list of its row."""
    owner = records[record, OWNER]
    head = first_record[owner]
    records[record, FOLLOWING] = head
    records[record, PREVIOUS] = EMPTY
    if head != EMPTY:
        records[head, PREVIOUS] = record
    first_record[owner] = record
    records_of[owner] += 1


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


@inlined
def rank_record(record, group, extreme, word, is_ranked, roots, heap):
    """A record has a joined row with this word: it may be the record's best."""
    member = record * roots.shape[1] + extreme
    root = roots[group, extreme]
    if not is_ranked[record, extreme]:
        is_ranked[record, extreme] = 1
        heap[member, VALUE] = word
        roots[group, extreme] = insert(root, member, heap)
    elif word > heap[member, VALUE]:
        roots[group, extreme] = change(root, member, word, heap)


@njit(cache=True)
def rank_again(row_record, rank, present, charged, states):
    """The extremes of stale records, from the joined rows that are charged to them still."""
    records, stale, is_ranked = charged.records, charged.stale, charged.is_ranked
    roots, heap = states.roots, states.heap
    for row in range(row_record.size):
        record = row_record[row]
        if record == EMPTY or not stale[record]:
            continue
        group = records[record, GROUP]
        for extreme in range(rank.shape[0]):
            if present[extreme, row]:
                rank_record(record, group, extreme, rank[extreme, row], is_ranked, roots, heap)
