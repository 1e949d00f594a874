"""Answers of several buckets, or of intervals one behind the other, as one; and their way there.

States of equal groups add up part by part. What was cut in one answer stays in doubt in the sum.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from windrow.errors import CheckpointError
from windrow.history.answers.answer import Answer, Interval
from windrow.history.cells.arena import Longs
from windrow.history.cells.cell_store import States, empty_states
from windrow.history.cells.kernels import LEFT, PARTS
from windrow.history.nodes.kernels import add_up
from windrow.history.nodes.state_columns import columns_of_states, states_of_columns
from windrow.history.sketches.kinds import kinds_of_sketches
from windrow.history.sketches.sketch_answer import SketchAnswer
from windrow.history.spec import HistorySpec
from windrow.history.state_kernels import REAL_STEP
from windrow.windows.codes import KeyCoder

__all__ = ["merge_answers", "partial_of_table", "table_of_partial"]

_METADATA = b"windrow.history"
_PART = "part"
_SHARE = "share"


def merge_answers(answers: Sequence[Answer]) -> Answer:
    """One answer from at least one, all of histories with equal specifications."""
    first = answers[0]
    groups, keys, count = _groups(answers)
    measures = len(first.spec.measures)
    whole, real = empty_states(PARTS * count, measures)
    shares, weights = np.zeros((count, 2)), np.zeros((count, 2))
    for answer, places in zip(answers, groups, strict=True):
        states = (PARTS * places[:, None] + np.arange(PARTS)).ravel()
        add_up(states, answer.whole, answer.real, whole, real)
        rows = answer.cut_rows()
        np.add.at(shares, places, answer.shares * rows)
        np.add.at(weights, places, rows)
        if answer.forgotten is not None:
            # A group that the answer does not have may be one of those forgotten.
            absent = np.setdiff1d(np.arange(count), places)
            add_up(PARTS * absent + LEFT, *_repeated(answer.forgotten, absent.size), whole, real)
    shares /= np.maximum(weights, 1.0)
    forgotten = _all_forgotten([each.forgotten for each in answers if each.forgotten is not None])
    sketches = {
        name: sketch.merged([answer.sketches[name] for answer in answers], groups, count)
        for name, sketch in first.sketches.items()
    }
    asked, inside, outside = _intervals(answers)
    return Answer(
        first.spec, asked, inside, outside, keys, whole, real, shares, forgotten, sketches
    )


def _repeated(state: States, count: int) -> States:
    places = np.zeros(count, np.int64)
    return state[0][:, places], state[1][:, places]


def _all_forgotten(states: Sequence[States]) -> States | None:
    if not states:
        return None
    whole, real = empty_states(1, states[0][1].shape[0] // REAL_STEP)
    for state in states:
        add_up(np.zeros(1, np.int64), *state, whole, real)
    return whole, real


def _groups(answers: Sequence[Answer]) -> tuple[list[Longs], pa.Table, int]:
    """For each answer where its groups are among all, the keys of these, and how many."""
    if not answers[0].keys.num_columns:
        return [np.arange(len(answer)) for answer in answers], answers[0].keys, 1
    table = pa.concat_tables([answer.keys for answer in answers]).combine_chunks()
    coder = KeyCoder([column.type for column in table.columns])
    codes = coder.acquire([_piece(column) for column in table.columns]).astype(np.int64)
    distinct, firsts, places = np.unique(codes, return_index=True, return_inverse=True)
    ends = np.cumsum([len(answer) for answer in answers])[:-1]
    return np.split(places, ends), table.take(pa.array(firsts)), distinct.size


def _piece(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _intervals(answers: Sequence[Answer]) -> tuple[Interval, Interval | None, Interval]:
    asked = Interval(
        min(answer.asked.since_us for answer in answers),
        max(answer.asked.until_us for answer in answers),
    )
    outside = Interval(
        min(answer.outside.since_us for answer in answers),
        max(answer.outside.until_us for answer in answers),
    )
    if all(answer.is_exact for answer in answers):
        return asked, asked, asked
    insides = [answer.inside for answer in answers if answer.inside is not None]
    if len(insides) < len(answers) or any(answer.asked != asked for answer in answers):
        return asked, None, outside
    since_us = max(inside.since_us for inside in insides)
    until_us = min(inside.until_us for inside in insides)
    return asked, Interval(since_us, until_us) if since_us < until_us else None, outside


def table_of_partial(answer: Answer) -> pa.Table:
    """An answer as a table that crosses processes: a row for each group and part."""
    rows = np.arange(len(answer) * PARTS)
    keys = answer.keys.take(pa.array(rows // PARTS)) if answer.keys.num_columns else answer.keys
    shares = np.zeros(rows.size)
    shares[1::PARTS], shares[2::PARTS] = answer.shares[:, 0], answer.shares[:, 1]
    columns = {
        **dict(zip(keys.column_names, keys.columns, strict=True)),
        _PART: pa.array((rows % PARTS).astype(np.int8)),
        _SHARE: pa.array(shares),
        **columns_of_states(answer.spec, answer.whole, answer.real),
    }
    for name, sketch in answer.sketches.items():
        columns[name] = pa.array(sketch.parts(), pa.binary())
    facts = {
        "asked": _pair(answer.asked),
        "inside": None if answer.inside is None else _pair(answer.inside),
        "outside": _pair(answer.outside),
        "forgotten": None if answer.forgotten is None else [m.tolist() for m in answer.forgotten],
    }
    return pa.table(columns).replace_schema_metadata({_METADATA: json.dumps(facts).encode()})


def partial_of_table(spec: HistorySpec, table: pa.Table) -> Answer:
    """The answer that table_of_partial() was given."""
    metadata: Mapping[bytes, bytes] = table.schema.metadata or {}
    if _METADATA not in metadata:
        raise CheckpointError(
            "WC301",
            "this table is not a partial answer of a history",
            hint="pass what table_of_partial() returned",
        )
    facts = json.loads(metadata[_METADATA])
    whole, real = states_of_columns(spec, table)
    shares = table.column(_SHARE).to_numpy().reshape(-1, PARTS)[:, 1:]
    names = [key.name for key in spec.keys if key.name in table.column_names]
    keys = pa.table({})
    if names:
        keys = table.select(names).take(pa.array(np.arange(0, table.num_rows, PARTS)))
        keys = keys.replace_schema_metadata(None)
    inside = None if facts["inside"] is None else Interval(*facts["inside"])
    return Answer(
        spec, Interval(*facts["asked"]), inside, Interval(*facts["outside"]), keys, whole, real,
        np.ascontiguousarray(shares), _state_of_lists(facts["forgotten"]),
        {
            kind.label: SketchAnswer.of_parts(kind, table.column(kind.label).to_pylist())
            for kind in kinds_of_sketches(spec.measures, spec.quantiles, spec.distincts)
        },
    )  # fmt: skip


def _state_of_lists(lists: list[list[list[float]]] | None) -> States | None:
    if lists is None:
        return None
    return np.array(lists[0], np.int64), np.array(lists[1], np.float64).reshape(-1, 1)


def _pair(interval: Interval) -> list[int]:
    return [interval.since_us, interval.until_us]
