"""Queues of codes in blocks: for each owner the codes of its rows, in the order in which they came.

Purpose: to go through all rows of a key without waiting for memory: codes stand side by side.
Needs: rows of an owner that leave in the order in which they came.
Time: O(1) to push and to pop; a block of codes is one line of the cache.
Space: 4 bytes a code, and at most two blocks an owner that are not full.

A block is a row of `blocks`: the number of the next one, then codes. `owners` holds the first and
the last block of each queue and the places in them: of the first code, and behind the last one. An
owner without codes has no block. `control` keeps the free blocks.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import inlined
from windrow.windows.kernels import EMPTY

BLOCK = 16
NEXT = 0  # the place of the next block's number; codes are behind it

# Columns of `owners`.
HEAD = 0
HEAD_AT = 1
TAIL = 2
TAIL_AT = 3
OWNER_COLUMNS = 4

# Entries of `control`.
FIRST_FREE = 0  # free blocks are chained by NEXT
NEXT_FRESH = 1  # blocks from here on were never taken
WALKED = 2  # codes that were gone through
CONTROL_ENTRIES = 3


@inlined
def has_room(owner, queues):
    """Whether a code can be pushed."""
    owners, blocks, control = queues
    tail = owners[owner, uint64(TAIL)]
    is_full = tail == EMPTY or owners[owner, uint64(TAIL_AT)] == BLOCK
    return not is_full or control[FIRST_FREE] != EMPTY or control[NEXT_FRESH] < blocks.shape[0]


@inlined
def push_code(owner, code, queues):
    """A code enters the queue of the owner; there must be room."""
    owners, blocks, control = queues
    tail = np.int64(owners[owner, uint64(TAIL)])
    at = np.int64(owners[owner, uint64(TAIL_AT)])
    if tail == EMPTY or at == BLOCK:
        block = control[FIRST_FREE]
        if block != EMPTY:
            control[FIRST_FREE] = blocks[uint64(block), uint64(NEXT)]
        else:
            block = control[NEXT_FRESH]
            control[NEXT_FRESH] = block + 1
        blocks[uint64(block), uint64(NEXT)] = EMPTY
        if tail == EMPTY:
            owners[owner, uint64(HEAD)] = block
            owners[owner, uint64(HEAD_AT)] = NEXT + 1
        else:
            blocks[uint64(tail), uint64(NEXT)] = block
        owners[owner, uint64(TAIL)] = block
        tail = block
        at = np.int64(NEXT + 1)
    blocks[uint64(tail), uint64(at)] = code
    owners[owner, uint64(TAIL_AT)] = at + 1


@inlined
def pop_code(owner, queues):
    """The first code leaves the queue of the owner, which has one."""
    owners, blocks, control = queues
    head = np.int64(owners[owner, uint64(HEAD)])
    at = np.int64(owners[owner, uint64(HEAD_AT)]) + 1
    is_last = head == owners[owner, uint64(TAIL)]
    is_empty = is_last and at == owners[owner, uint64(TAIL_AT)]
    owners[owner, uint64(HEAD_AT)] = at
    if is_empty or at == BLOCK:
        following = np.int64(blocks[uint64(head), uint64(NEXT)])
        blocks[uint64(head), uint64(NEXT)] = control[FIRST_FREE]
        control[FIRST_FREE] = head
        owners[owner, uint64(HEAD)] = following
        owners[owner, uint64(HEAD_AT)] = NEXT + 1
        if is_empty:
            owners[owner, uint64(HEAD)] = EMPTY
            owners[owner, uint64(TAIL)] = EMPTY
