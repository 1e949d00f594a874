"""What the kernels of joined rows work on: structures of arrays, each one argument of a kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windrow.operators.lanes import Matrix, Vector
from windrow.windows.codes import Codes

__all__ = [
    "GroupArrays",
    "IndexArrays",
    "JoinedArrays",
    "MergedArrays",
    "ProbeArrays",
    "ProbeState",
    "RecordArrays",
    "ResultArrays",
    "UpdateArrays",
    "WholeArrays",
]


class MergedArrays(NamedTuple):
    """Events in time order: when, of which input, which slot, in (1) or out (-1)."""

    at: Vector
    input: Vector
    slot: Vector
    sign: Vector


class JoinedArrays(NamedTuple):
    """Joined rows: their event, their group (none without groups) and the lanes that they add.

    tally_code: per distinct, EMPTY for NULL. rank, present: per extreme.
    """

    event: NDArray[np.int32]
    group: Codes
    share: Matrix
    tally_code: NDArray[np.int32]
    rank: Matrix
    present: NDArray[np.uint8]


class WholeArrays(NamedTuple):
    """Joined rows without groups, distinct values and extremes.

    words: what the measures add, one each, where that is spread by the kernel; kinds says what they
    are, and is empty where `share` has the lanes. delta: room for the lanes of one event, as a row.
    """

    event: NDArray[np.int32]
    share: Matrix
    words: Matrix
    kinds: Vector
    delta: Matrix


class GroupArrays(NamedTuple):
    """The states of groups: numbers of joined rows, lanes, tallies, and heaps of extremes by root.

    masks: what each lane keeps when its carry goes to the next; none where no lane carries.
    last_out: where a group was last put out. tally_count[distinct, code]: the joined rows of one
    value in one group.
    """

    row_count: Vector
    lanes: Matrix
    masks: Vector
    tallies: Matrix
    roots: Matrix
    heap: Matrix
    last_out: Vector
    tally_count: Matrix


class UpdateArrays(NamedTuple):
    """What is put out, and `control`, which says how far it is written."""

    control: Vector
    at: Vector
    group: Codes
    row_count: Vector
    lanes: Matrix
    extras: Matrix


class RecordArrays(NamedTuple):
    """Records of joined rows that are charged to one row, and the lists of them by row.

    stale, stale_list: records whose best is unknown. progress: how far a kernel came. Where a row
    has one record, and that no extremes, records have but a count.
    """

    records: Matrix
    lanes: Matrix
    tally: NDArray[np.int32]
    is_ranked: NDArray[np.uint8]
    stale: NDArray[np.uint8]
    stale_list: Vector
    first_record: Vector
    records_of: Vector
    progress: Vector


class ResultArrays(NamedTuple):
    """Joined rows that are kept, and the lists of them by row, chained by `following`.

    users: of how many lists a result is still part. progress: how far a kernel came.
    """

    group: Codes
    lanes: Matrix
    tally: NDArray[np.int32]
    is_live: NDArray[np.uint8]
    users: NDArray[np.int8]
    is_ranked: NDArray[np.uint8]
    following: Matrix
    first_result: Vector
    results_of: Vector
    progress: Vector


class IndexArrays(NamedTuple):
    """Rows by the codes of join variables; an index is (input, join variable).

    code_of[slot, index] is a row's code, runs[code, index] the place of the slots under it in the
    arena, position[slot, index] the row's place in its run.
    """

    code_of: NDArray[np.int32]
    position: NDArray[np.int32]
    runs: NDArray[np.int32]
    arena: NDArray[np.int32]
    arena_control: Vector


class ProbeArrays(NamedTuple):
    """In which order an input probes the others, and what came of it.

    first_index, index_input: the indexes of each input. step_input[i, d]: the input that a row of
    input i probes at depth d, by step_index[i, d], with the code that the row found before has in
    step_code[i, d]. checks[i, d]: further pairs of indexes whose codes must be equal.
    """

    first_index: Vector
    index_input: Vector
    step_input: Matrix
    step_index: Matrix
    step_code: Matrix
    check_count: Matrix
    checks: NDArray[np.int64]
    statistics: Matrix


class ProbeState(NamedTuple):
    """Where a row's probing is: at each depth the next place and the last; the slots found so far.

    progress: how far the events are done.
    """

    cursor: Vector
    end: Vector
    current: Vector
    progress: Vector
