"""Loops for the windows: hash tables of keys, evictions by count, merging of instants."""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import inlined, intrinsic, njit

EMPTY = -1
# Golden-ratio multiplier of Fibonacci hashing: spreads runs of integers over the whole table.
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


# So far ahead a place is fetched before it is needed, and only in tables that the cache cannot
# hold: a miss costs more than all other work on a row.
AHEAD = 16
LARGE_TABLE = 1 << 15


@intrinsic
def prefetch(numba, array, index):
    """Have row `index` of the array brought into the cache; any index will do, nothing is read."""
    ir = numba.ir

    def emit(context, builder, signature, arguments):
        view = numba.cgutils.create_struct_proxy(signature.args[0])(context, builder, arguments[0])
        place = context.cast(builder, arguments[1], signature.args[1], numba.types.intp)
        byte = ir.IntType(8).as_pointer()
        offset = builder.mul(place, builder.extract_value(view.strides, 0))
        address = builder.gep(builder.bitcast(view.data, byte), [offset])
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        module = builder.module
        function = numba.cgutils.get_or_insert_function(module, kind, "llvm.prefetch.p0")
        # For writing, into all levels of the cache, as data.
        builder.call(function, [address, number(1), number(3), number(1)])

    return numba.types.void(array, index), emit


@njit(cache=True)
def home_slot(word, mask):
    """The slot at which the search for a word begins."""
    mixed = np.uint64(word) * _MULTIPLIER
    mixed ^= mixed >> _SHIFT
    mixed *= _MULTIPLIER
    return np.int64(mixed >> np.uint64(32)) & mask


@njit(cache=True)
def encode_words(words, valid, start, slot_word, slot_code, word_of_code, free, counters, out):
    """Give each word from `start` on its dense code, new ones too; stop when the table is full.

    counters: codes in use, next fresh code, free codes stacked, code of NULL (or EMPTY).
    valid of length 0 means that every word is valid; invalid words get the code of NULL.
    Returns how far it came.
    """
    mask = slot_word.size - 1
    check = valid.size > 0
    fetches = slot_word.size > LARGE_TABLE
    for index in range(start, words.size):
        if fetches and index + AHEAD < words.size:
            soon = home_slot(words[index + AHEAD], mask)
            prefetch(slot_word, soon)
            prefetch(slot_code, soon)
        if check and valid[index] == 0:
            if counters[3] == EMPTY:
                if is_full(slot_word, word_of_code, counters):
                    return index
                counters[3] = take_code(free, counters)
            out[index] = counters[3]
            continue
        code = code_of_word(
            words[uint64(index)], slot_word, slot_code, word_of_code, free, counters, mask
        )
        if code == EMPTY:
            return index
        out[uint64(index)] = code
    return words.size


@njit(cache=True)
def encode_near_words(
    words, valid, start, slot_word, slot_code, word_of_code, free, counters, references, near, out
):
    """The same where most words lie close together: near[word - near[0]] is a guess at its code.

    A guess is right where the code is in use for that word: neither free, nor that of NULL.
    """
    mask = slot_word.size - 1
    check = valid.size > 0
    first = near[0] - 1  # the first entry says where the others begin
    for index in range(start, words.size):
        if check and valid[index] == 0:
            if counters[3] == EMPTY:
                if is_full(slot_word, word_of_code, counters):
                    return index
                counters[3] = take_code(free, counters)
            out[index] = counters[3]
            continue
        word = words[uint64(index)]
        place = uint64(word - first)
        is_near = place > 0 and place < uint64(near.size)
        if is_near:
            code = np.int32(near[place])
            if code != EMPTY and word_of_code[uint64(code)] == word:
                if references[uint64(code)] > 0 and code != counters[3]:
                    out[uint64(index)] = code
                    continue
        code = code_of_word(word, slot_word, slot_code, word_of_code, free, counters, mask)
        if code == EMPTY:
            return index
        if is_near:
            near[place] = code
        out[uint64(index)] = code
    return words.size


@inlined
def is_full(slot_word, word_of_code, counters):
    """Whether there is no room for one more code."""
    no_code = counters[2] == 0 and counters[1] >= word_of_code.size
    return no_code or counters[0] >= slot_word.size // 2


@inlined
def code_of_word(word, slot_word, slot_code, word_of_code, free, counters, mask):
    """The code of a word, new or not; EMPTY where a new one has no room."""
    slot = home_slot(word, mask)
    code = slot_code[uint64(slot)]
    while code != EMPTY and slot_word[uint64(slot)] != word:
        slot = (slot + 1) & mask
        code = slot_code[uint64(slot)]
    if code == EMPTY and not is_full(slot_word, word_of_code, counters):
        code = take_code(free, counters)
        slot_word[slot] = word
        slot_code[slot] = code
        word_of_code[code] = word
    return code


@njit(cache=True)
def take_code(free, counters):
    """A recycled code, or a fresh one."""
    counters[0] += 1
    if counters[2] > 0:
        counters[2] -= 1
        return free[counters[2]]
    counters[1] += 1
    return np.int32(counters[1] - 1)


@njit(cache=True)
def spread_slots(slot_word, slot_code, before):
    """Put the entries of a table where they belong once it is longer than `before`.

    An entry stays, moves back, or goes to the part that is new: so a slot is free once it was
    looked at, and only the run at the beginning, which may come from the end, has to wait. Done
    twice, it does no harm.
    """
    first = 0
    while first < before and slot_code[first] != EMPTY:
        first += 1
    words, codes = slot_word[:first].copy(), slot_code[:first].copy()
    slot_code[:first] = EMPTY
    for index in range(first, before):
        code = slot_code[index]
        slot_code[index] = EMPTY
        if code != EMPTY:
            put_into_slot(slot_word[index], code, slot_word, slot_code)
    for index in range(first):
        put_into_slot(words[index], codes[index], slot_word, slot_code)


@inlined
def put_into_slot(word, code, slot_word, slot_code):
    """Put a word that is in no slot into one."""
    mask = slot_word.size - 1
    slot = home_slot(word, mask)
    while slot_code[slot] != EMPTY:
        slot = (slot + 1) & mask
    slot_word[slot] = word
    slot_code[slot] = code


@njit(cache=True)
def remove_codes(codes, slot_word, slot_code, word_of_code, free, counters):
    """Take codes out of the table and stack them for reuse."""
    mask = slot_word.size - 1
    fetches = slot_word.size > LARGE_TABLE
    for index in range(codes.size):
        if fetches and index + 2 * AHEAD < codes.size:
            prefetch(word_of_code, codes[index + 2 * AHEAD])
            soon = home_slot(word_of_code[codes[index + AHEAD]], mask)
            prefetch(slot_word, soon)
            prefetch(slot_code, soon)
        code = codes[index]
        free[counters[2]] = code
        counters[2] += 1
        counters[0] -= 1
        if code == counters[3]:
            counters[3] = EMPTY
            continue
        slot = home_slot(word_of_code[code], mask)
        while slot_code[slot] != code:
            slot = (slot + 1) & mask
        close_gap(slot, slot_word, slot_code, mask)


@njit(cache=True)
def close_gap(gap, slot_word, slot_code, mask):
    """Empty a slot and move later entries of its run back, so that no search ends too soon."""
    slot = (gap + 1) & mask
    while slot_code[slot] != EMPTY:
        home = home_slot(slot_word[slot], mask)
        # The entry may move into the gap only if the gap lies between its home and its place.
        if ((slot - home) & mask) >= ((slot - gap) & mask):
            slot_word[gap] = slot_word[slot]
            slot_code[gap] = slot_code[slot]
            gap = slot
        slot = (slot + 1) & mask
    slot_code[gap] = EMPTY


@njit(cache=True)
def add_references(codes, references, fresh):
    """One more user for each code; the rows at which a code gets its first user go into `fresh`."""
    count = 0
    for index in range(codes.size):
        code = codes[uint64(index)]
        if code != EMPTY:
            users = references[uint64(code)]
            if users == 0:
                fresh[count] = index
                count += 1
            references[uint64(code)] = users + 1
    return count


@njit(cache=True)
def drop_references(codes, references, dead):
    """One user less for each code; the codes that have none left go into `dead`."""
    count = 0
    for index in range(codes.size):
        code = codes[uint64(index)]
        if code != EMPTY:
            users = references[uint64(code)] - 1
            references[uint64(code)] = users
            if users == 0:
                dead[count] = code
                count += 1
    return count


@njit(cache=True)
def renumber(codes, seen, stamp, local, unique):
    """Number the codes in order of first appearance; returns how many different ones there are.

    seen[code] holds stamp + local number once the code has appeared: a stamp saves clearing it.
    """
    count = 0
    for index in range(codes.size):
        code = codes[index]
        if seen[code] < stamp:
            seen[code] = stamp + count
            unique[count] = code
            count += 1
        local[index] = seen[code] - stamp
    return count


@njit(cache=True)
def evict_by_partition(
    partitions, start, end, base, rows, first, last, held, following, alive, evict
):
    """For each row entering a window of the last `rows` rows a partition: the row pushed out.

    first, last, held: per partition; following: per row, the next one of its partition. Rows
    there are numbers, place + base; evict holds places.
    """
    for row in range(start, end):
        partition = partitions[row]
        alive[row] = True
        evict[row - start] = EMPTY
        if held[partition] == 0:
            first[partition] = row + base
        else:
            following[last[partition] - base] = row + base
        last[partition] = row + base
        if held[partition] == rows:
            oldest = first[partition] - base
            evict[row - start] = oldest
            alive[oldest] = False
            # With one row a partition the newcomer itself is what follows.
            first[partition] = following[oldest]
        else:
            held[partition] += 1


@njit(cache=True)
def merge_distinct(left, right, out):
    """Merge two sorted arrays into `out` without repeats; returns its length."""
    i = 0
    j = 0
    count = 0
    last = 0
    # One value a step, from either side or both, without a branch on which.
    while i < left.size and j < right.size:
        a = left[uint64(i)]
        b = right[uint64(j)]
        value = min(a, b)
        out[uint64(count)] = value
        count += (count == 0) | (value != last)
        last = value
        i += a == value
        j += b == value
    for place in range(i, left.size):
        out[count] = left[place]
        count += (count == 0) | (left[place] != last)
        last = left[place]
    for place in range(j, right.size):
        out[count] = right[place]
        count += (count == 0) | (right[place] != last)
        last = right[place]
    return count


@njit(cache=True)
def append_distinct(run, out, used):
    """Append a sorted array to one that ends no later, without repeats; returns its length."""
    last = out[used - 1] if used > 0 else run[0]
    is_first = used == 0
    for index in range(run.size):
        value = run[uint64(index)]
        out[uint64(used)] = value
        used += is_first | (value != last)
        is_first = False
        last = value
    return used


@njit(cache=True)
def is_sorted(times):
    """Whether no time is smaller than the one before it (all are looked at: that is faster)."""
    descents = 0
    for index in range(1, times.size):
        descents += times[uint64(index)] < times[uint64(index - 1)]
    return descents == 0


@njit(cache=True)
def largest_magnitude(values):
    """The largest absolute value, as a negative number: of those the smallest has its opposite."""
    lowest = 0
    for row in range(values.shape[0]):
        for index in range(values.shape[1]):
            value = values[uint64(row), uint64(index)]
            lowest = min(lowest, value, -value)
    return lowest


@njit(cache=True)
def rounded_up(instant, grid):
    """The first multiple of grid that is not before the instant."""
    return instant if grid == 1 else -(-instant // grid) * grid


@njit(cache=True)
def leave_of(entered, lifetime):
    """When a row leaves that entered then; lifetime: the numbers of lifetime.Lifetime."""
    leave = entered + lifetime[1]
    growth = lifetime[5]
    if growth != 0:
        since = leave - 1 - lifetime[3]
        phase = since % lifetime[4]
        if since >= 0 and phase <= growth:
            leave += growth - phase
    return max(leave, lifetime[2])


@njit(cache=True)
def timed_events(times, cursor, lifetime, grid, until, first, limit, out_at, out_row, out_sign):
    """Rows entering and leaving a timed window, in time order, up to and including `until`.

    cursor: head, tail, end. times[end] is a sentinel beyond every instant. lifetime: the numbers of
    lifetime.Lifetime. Writes at most `limit` events from `first` on; returns how many. Leaving
    comes before entering at the same instant. The instant written is rounded up to the grid at
    which answers show.
    """
    head = cursor[0]
    tail = cursor[1]
    slide = lifetime[0]
    hold = lifetime[1]
    entry = rounded_up(times[tail], slide)
    # An empty window has head == tail: what "leaves" is then later than the entry.
    leave = leave_of(rounded_up(times[head], slide), lifetime)
    # Once no row leaves before the floor, and without turns, the hold alone decides.
    is_plain = slide == 1 and lifetime[5] == 0 and leave > lifetime[2]
    count = 0
    while count < limit:
        leaves = leave <= entry
        now = leave if leaves else entry
        if now > until:
            break
        place = uint64(first + count)
        out_at[place] = rounded_up(now, grid)
        out_row[place] = head if leaves else tail
        out_sign[place] = -1 if leaves else 1
        head += leaves
        tail += not leaves
        if is_plain:
            entry = times[uint64(tail)]
            leave = times[uint64(head)] + hold
        else:
            entry = rounded_up(times[uint64(tail)], slide)
            leave = leave_of(rounded_up(times[uint64(head)], slide), lifetime)
        count += 1
    cursor[0] = head
    cursor[1] = tail
    return count


@njit(cache=True)
def counted_events(
    times, cursor, evict, evict_from, grid, until, first, limit, out_at, out_row, out_sign
):
    """Rows entering and leaving a window of ROWS: evict[row - evict_from] leaves when `row` enters.

    cursor: head, tail, end, row that waits to be evicted (or EMPTY).
    """
    tail = cursor[1]
    waiting = cursor[3]
    count = 0
    while count < limit:
        leaves = waiting != EMPTY
        now = times[tail - 1] if leaves else times[tail]
        if now > until:
            break
        out_at[first + count] = rounded_up(now, grid)
        out_row[first + count] = waiting if leaves else tail
        out_sign[first + count] = -1 if leaves else 1
        waiting = EMPTY if leaves else evict[tail - evict_from]
        tail += not leaves
        count += 1
    cursor[1] = tail
    cursor[3] = waiting
    return count


@njit(cache=True)
def merge_events(at, position, stop, has_more, order):
    """Merge the events of two windows by time; stop when a side runs dry that has more to come.

    position and stop say which events of each side are left to merge. Returns how many were
    ordered.
    """
    i = position[0]
    j = position[1]
    left_stop = stop[0]
    right_stop = stop[1]
    count = 0
    while count < order.size and i < left_stop and j < right_stop:
        takes_left = at[uint64(i)] <= at[uint64(j)]
        order[uint64(count)] = i if takes_left else j
        i += takes_left
        j += not takes_left
        count += 1
    while count < order.size and i < left_stop and j == right_stop and not has_more[1]:
        order[count] = i
        i += 1
        count += 1
    while count < order.size and j < right_stop and i == left_stop and not has_more[0]:
        order[count] = j
        j += 1
        count += 1
    position[0] = i
    position[1] = j
    return count
