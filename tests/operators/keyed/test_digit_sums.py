"""Sums in digits against sums in limbs and against fractions: the same bits, whatever comes.

Values grow finer and larger as rows come, so that digits are cut anew; NULL, infinities and NaN
come and go; batches end anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from windrow.operators.keyed import lane_fit

START = datetime(2026, 1, 1, tzinfo=UTC)
SCHEMA = "ts timestamp, k bigint, x double, n bigint"
JOIN = "FROM a [5 SECONDS], b [8 SECONDS] WHERE a.k = b.k"
QUERIES = {
    "a join": f"SELECT COUNT(*) AS c, SUM(a.x) AS s, AVG(b.x) AS m {JOIN}",
    "of integers, too": f"SELECT SUM(a.x) AS s, SUM(a.n) AS n, SUM(b.n) AS o {JOIN}",
    "of integers alone": f"SELECT SUM(a.n) AS n, AVG(b.n) AS m {JOIN}",
    "by key": f"SELECT a.k AS k, SUM(a.x) AS s, SUM(b.x) AS t {JOIN} GROUP BY a.k",
    "by key on a grid": f"SELECT a.k AS k, SUM(a.x) AS s {JOIN} GROUP BY a.k EVERY (2 SECONDS)",
    "a join on a grid": f"SELECT SUM(a.x) AS s, SUM(b.n) AS t {JOIN} EVERY (2 SECONDS)",
    "by another column": f"SELECT a.n AS n, SUM(b.x) AS s {JOIN} GROUP BY a.n",
    "by columns of both": f"SELECT a.n AS n, b.n AS o, SUM(b.x) AS s {JOIN} GROUP BY a.n, b.n",
    "one window": "SELECT SUM(a.x) AS s, AVG(a.n) AS m FROM a [5 SECONDS]",
    "one window by key": "SELECT a.k AS k, SUM(a.x) AS s FROM a [5 SECONDS] GROUP BY a.k",
    "rows that never leave": "SELECT SUM(a.x) AS s, COUNT(a.x) AS c FROM a [UNBOUNDED]",
    "the last rows": "SELECT SUM(a.x) AS s, AVG(a.x) AS m FROM a [ROWS 4]",
    "spreads": f"SELECT STDDEV(a.x) AS d, VAR_POP(b.n) AS v {JOIN}",
    "spreads of one window": "SELECT STDDEV(a.x) AS d, VAR_POP(a.n) AS v FROM a [5 SECONDS]",
}
doubles = st.one_of(
    st.integers(-40, 40).map(lambda n: n / 4),
    st.sampled_from([0.1, 0.2, 0.3, -0.7, 1e16, -1e16, 1e-9, 3.0, -0.0]),
    st.sampled_from([1e300, -1e300, 1e-300, math.inf, -math.inf, math.nan, 5e-324]),
    st.floats(-1e3, 1e3),
    st.none(),
)
integers = st.integers(-9, 9) | st.sampled_from([2**40, -(2**52), 2**53, -(2**55), None])
rows = st.fixed_dictionaries(
    {"at": st.integers(0, 3), "to": st.sampled_from("ab"), "k": st.integers(0, 1),
     "x": doubles, "n": integers, "ends": st.booleans()}
)  # fmt: skip
tame = st.fixed_dictionaries(
    {"at": st.integers(0, 3), "to": st.sampled_from("ab"), "k": st.integers(0, 1),
     "x": st.integers(-9, 9).map(lambda n: n / 4), "n": st.integers(-9, 9), "ends": st.booleans()}
)  # fmt: skip
Arrival = dict[str, object]


@contextmanager
def limbs_alone() -> Iterator[None]:
    """Queries that are begun in here never have digits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lane_fit, "chosen_forms", lambda *_: None)
        yield


def batches_of(arrivals: list[Arrival]) -> list[dict[str, list[Arrival]]]:
    """Rows in time order, cut where one ends a batch."""
    batches: list[dict[str, list[Arrival]]] = [{"a": [], "b": []}]
    clock = 0
    for row in arrivals:
        clock += row["at"]  # type: ignore[operator]
        at = START + timedelta(seconds=clock)
        batches[-1][row["to"]].append({"ts": at, "k": row["k"], "x": row["x"], "n": row["n"]})  # type: ignore[index]
        if row["ends"]:
            batches.append({"a": [], "b": []})
    return batches


def run(query: str, arrivals: list[Arrival]) -> list[tuple[object, ...]]:
    """All answers and what is left at the end, with doubles as their digits."""
    session = windrow.connect()
    for name in "ab":
        session.stream(name, SCHEMA, time="ts")
    running = session.query(query)
    found: list[tuple[object, ...]] = []
    for batch in batches_of(arrivals):
        for name, listed in batch.items():
            types = pa.schema([("ts", pa.timestamp("us", tz="UTC")), ("k", pa.int64()),
                               ("x", pa.float64()), ("n", pa.int64())])  # fmt: skip
            session.push(name, pa.Table.from_pylist(listed, schema=types))
        found += shown(running.changes()) + shown(running.answers())
    session.finish()
    return found + shown(running.changes()) + shown(running.answers()) + shown(running.result())


def shown(table: pa.Table) -> list[tuple[object, ...]]:
    return sorted(
        (tuple(map(repr, row.values())) for row in table.to_pylist()),
    )


@pytest.mark.parametrize("name", QUERIES)
@given(arrivals=st.lists(rows, max_size=14) | st.lists(tame, max_size=14))
def test_digits_give_what_limbs_give(name: str, arrivals: list[Arrival]) -> None:
    with limbs_alone():
        wanted = run(QUERIES[name], arrivals)
    assert run(QUERIES[name], arrivals) == wanted


@given(st.lists(st.tuples(st.integers(0, 2), st.floats(-1e9, 1e9)), min_size=1, max_size=12))
def test_a_sum_over_a_join_is_the_nearest_double(values: list[tuple[int, float]]) -> None:
    arrivals: list[Arrival] = []
    for key, value in values:
        common = {"k": key, "n": 0, "ends": len(arrivals) % 3 == 0}
        arrivals.append({"at": 0, "to": "a", "x": value, **common})
        arrivals.append({"at": 0, "to": "b", "x": 0.0, **common})
    partners = {key: sum(each == key for each, _ in values) for key, _ in values}
    exact = sum((Fraction(value) * partners[key] for key, value in values), Fraction(0))
    session = windrow.connect()
    for name in "ab":
        session.stream(name, SCHEMA, time="ts")
    running = session.query(f"SELECT SUM(a.x) AS s {JOIN}")
    for batch in batches_of(arrivals):
        for name, listed in batch.items():
            session.push(name, listed)
    for name in "ab":
        session.advance(name, to=START + timedelta(seconds=1))
    assert running.result()["s"].to_pylist() == [float(exact)]
