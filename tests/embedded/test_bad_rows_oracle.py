"""Bad rows among good ones, of every kind: the answers are those of the oracle over the others."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from support import damaged_columns
from support.oracle import SumOverflowError
from support.runners import Judge, Model
from support.sessions import session_of
from support.streams import STREAMS, Action, Heartbeat, batch_of, queries, scenarios
from windrow.errors import DataError

FAR_US = 7_226_582_400_000_000  # 2199
KINDS = ("bad text", "bad decimal", "no time", "far ahead")


def with_bad_rows(batch: pa.RecordBatch, bad: list[tuple[int, str]]) -> pa.Table:
    """The rows with bad ones before those of some places."""
    order = sorted((min(place, batch.num_rows), kind) for place, kind in bad)
    taken = [place for place in range(batch.num_rows)]
    marks: list[str] = [""] * batch.num_rows
    for shift, (place, kind) in enumerate(order):
        taken.insert(place + shift, 0)
        marks.insert(place + shift, kind)
    columns = {
        name: column.take(pa.array(taken))
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }
    is_marked = {kind: pa.array([mark == kind for mark in marks]) for kind in KINDS}
    texts = zip(columns["s"].cast(pa.binary()).to_pylist(), marks, strict=True)
    columns["s"] = damaged_columns.texts(
        [b"\xff" if mark == "bad text" else text for text, mark in texts]
    )
    columns["p"] = _decimals(columns["p"], is_marked["bad decimal"])
    times = columns["ts"].cast(pa.int64())
    times = pa.compute.if_else(is_marked["far ahead"], FAR_US, times)
    times = pa.compute.if_else(is_marked["no time"], pa.scalar(None, pa.int64()), times)
    columns["ts"] = times.cast(columns["ts"].type)
    return pa.table(columns)


def _decimals(column: pa.Array, is_bad: pa.Array) -> pa.Array:
    words = np.frombuffer(column.buffers()[1], np.int64).reshape(-1, 2)
    words = words[column.offset : column.offset + len(column)].copy()
    flags = is_bad.to_numpy(zero_copy_only=False)
    words[flags] = (10**17, 0)
    valid = pa.array(column.is_valid().to_numpy(zero_copy_only=False) | flags)
    buffers = [valid.buffers()[1], pa.py_buffer(words)]
    return pa.Array.from_buffers(column.type, len(column), buffers)


bad_rows = st.lists(st.tuples(st.integers(0, 6), st.sampled_from(KINDS)), min_size=1, max_size=4)


@settings(max_examples=30, deadline=None)
@given(queries, scenarios(), st.lists(bad_rows, min_size=1, max_size=6))
def test_answers_are_those_of_the_oracle_over_the_rows_that_are_taken(
    text: str, actions: list[Action], bad: list[list[tuple[int, str]]]
) -> None:
    session, model = session_of(), Model()
    query = session.query(text)
    judge, given_bad = Judge(query.plan), dict.fromkeys(STREAMS, 0)
    try:
        for number, action in enumerate(actions):
            model.take(action)
            if isinstance(action, Heartbeat):
                session.advance(action.stream, to=action.to_us)
                continue
            batch = batch_of(action.stream, action.rows)
            mine = bad[number % len(bad)] if batch.num_rows else []
            session.push(action.stream, with_bad_rows(batch, mine) if mine else batch)
            given_bad[action.stream] += len(mine)
        session.finish()
        given_all = (query.answers(), query.changes(), query.result())
        judge.check(model.rows(), -(2**61), model.last(query.plan), *given_all)
    except (DataError, SumOverflowError):
        return  # sums that are too large: other tests look at these
    for row in session.ledger().to_pylist():
        parts = ("applied", "late", "bad_time", "bad_value", "rejected", "waiting")
        assert row["rows_in"] == sum(row[part] for part in parts)
        assert row["bad_time"] + row["bad_value"] == given_bad[row["stream"]]
        assert row["rows_in"] == model.streams[row["stream"]].rows_in + given_bad[row["stream"]]
