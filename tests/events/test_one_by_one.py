"""Rows that are pushed and read one by one give, to the last bit, what they give as one batch."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from support.event_streams import FORMS, NAMES, SECOND, START, values
from windrow.embedded import EmbeddedSession

COLUMNS = "ts timestamp, k int, v double, w bigint, name string"
CHOSEN = ("whole", "grouped", "join by key", "extremes")
steps = st.lists(
    st.tuples(st.sampled_from([0, 1, 1, 2, 9]), st.sampled_from("ab"), values), max_size=15
)


def _session() -> tuple[EmbeddedSession, list[windrow.Query]]:
    session = windrow.connect()
    for name in "ab":
        session.stream(name, COLUMNS, time="ts")
    return session, [session.query(FORMS[name]) for name in CHOSEN]


def _given(query: windrow.Query) -> list[str]:
    """What it has answered and what it shows: doubles with all their bits, zeros with their sign.

    Not the bytes of the tables: under NULL there may be anything.
    """
    return [f"{table.schema} {table.to_pylist()}" for table in (query.answers(), query.result())]


@pytest.mark.parametrize("given_as", ["dict", "tuple", "Arrow"])
@given(steps=steps)
def test_one_by_one_or_all_at_once(given_as: str, steps: list[Any]) -> None:
    one_by_one, events = _session()
    at_once, batches = _session()
    at, pushed = START, dict[str, list[dict[str, Any]]](a=[], b=[])
    schema = pa.schema(
        [
            ("ts", pa.timestamp("us", tz="UTC")), ("k", pa.int32()), ("v", pa.float64()),
            ("w", pa.int64()), ("name", pa.string()),
        ]
    )  # fmt: skip
    for move, stream, row in steps:
        at += move * SECOND
        row = {"ts": at, **row}
        pushed[stream].append(row)
        if given_as == "tuple":
            one_by_one.push(stream, tuple(row[name] for name in NAMES))
        elif given_as == "Arrow":
            one_by_one.push(stream, pa.RecordBatch.from_pylist([row], schema))
        else:
            one_by_one.push(stream, row)
        for query in events:
            query.latest()
    for stream, rows in pushed.items():
        at_once.push(stream, pa.Table.from_pylist(rows, schema))
    for session in (one_by_one, at_once):
        session.finish()
    for name, one, other in zip(CHOSEN, events, batches, strict=True):
        assert _given(one) == _given(other), name
