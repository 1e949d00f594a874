"""Real connections at honeypots: joins against the counts that come with the data; disorder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import windrow

DATA = Path(__file__).parents[3] / "shared" / "data" / "honeypot_connections.parquet"
pytestmark = pytest.mark.skipif(not DATA.exists(), reason=f"{DATA.name} is not here")

# Pairs of connections from one source with |difference of times| <= W, from the data's README.
WINDOWS = ("60 SECONDS", "10 MINUTES", "1 HOUR", "1 DAY")
PAIRS = {
    ("tokyo", "singapore"): (520, 6_908, 38_151, 723_284),
    ("eu", "sa"): (2_722, 14_111, 30_569, 344_212),
    ("tokyo", "oregon"): (72, 1_030, 4_415, 52_230),
}
AN_INSTANT = "1 MICROSECOND"  # times are whole seconds: such a window holds the rows of its instant
LARGEST_DELAY = "1346 seconds"


@pytest.fixture(scope="module")
def connections() -> pa.Table:
    return pq.read_table(DATA, columns=["ts", "link", "src"])


def of_link(connections: pa.Table, name: str) -> pa.Table:
    rows = connections.filter(pc.equal(connections["link"].cast(pa.string()), f"groucho-{name}"))
    return rows.select(["ts", "src"]).sort_by("ts")


@pytest.mark.parametrize("links", PAIRS, ids=" x ".join)
def test_pairs_ever_formed(connections: pa.Table, links: tuple[str, str]) -> None:
    # A pair forms when its later row comes: rows of an instant join those of the window before.
    session = windrow.connect()
    for name in ("x", "y"):
        session.stream(name, "ts timestamp, src string", time="ts")

    def counted(left: str, right: str):
        return session.query(
            f"SELECT COUNT(*) AS n FROM x [{left}], y [{right}] WHERE x.src = y.src"
        )

    queries = [(counted(width, AN_INSTANT), counted(AN_INSTANT, width)) for width in WINDOWS]
    both = counted(AN_INSTANT, AN_INSTANT)
    for name, link in zip(("x", "y"), links, strict=True):
        session.push(name, of_link(connections, link))
    session.finish()
    at_once = pc.sum(both.answers()["n"]).as_py()
    found = [
        sum(pc.sum(query.answers()["n"]).as_py() for query in pair) - at_once for pair in queries
    ]
    assert tuple(found) == PAIRS[links]


def test_a_wide_window_after_the_last_row_holds_all_recent_pairs(connections: pa.Table) -> None:
    session = windrow.connect()
    for name in ("x", "y"):
        session.stream(name, "ts timestamp, src string", time="ts")
    query = session.query(
        "SELECT COUNT(*) AS n FROM x [300 DAYS], y [300 DAYS] WHERE x.src = y.src"
    )
    tables = {"x": of_link(connections, "eu"), "y": of_link(connections, "sa")}
    for name, table in tables.items():
        session.push(name, table)
    session.finish()
    left, right = (
        dict(zip(*np.unique(table["src"].to_numpy(), return_counts=True), strict=True))
        for table in tables.values()
    )
    pairs = sum(int(count) * int(right.get(source, 0)) for source, count in left.items())
    assert query.result()["n"].to_pylist() == [pairs]


def test_the_real_disorder_disappears_within_its_lateness(connections: pa.Table) -> None:
    text = "SELECT link, COUNT(*) AS n FROM t [10 MINUTES] GROUP BY link EVERY (1 DAY)"
    found = []
    for rows in (connections, connections.sort_by("ts")):
        session = windrow.connect()
        session.stream(
            "t", "ts timestamp, link string, src string", time="ts", lateness=LARGEST_DELAY
        )
        query = session.query(text)
        for first in range(0, rows.num_rows, 40_000):
            session.push("t", rows.slice(first, 40_000))
        session.finish()
        assert session.ledger()["late"].to_pylist() == [0]
        found.append(query.answers())
    assert found[0].num_rows > 180
    assert found[0].equals(found[1])


def test_the_real_disorder_without_lateness_is_counted(connections: pa.Table) -> None:
    session = windrow.connect()
    session.stream("t", "ts timestamp, link string, src string", time="ts")
    query = session.query("SELECT COUNT(*) AS n FROM t")
    size = 1_000
    for begin in range(0, connections.num_rows, size):
        session.push("t", connections.slice(begin, size))
    session.finish()
    times = connections["ts"].cast(pa.int64()).to_numpy()
    # A row is late by what came in pushes before its own.
    newest = np.maximum.accumulate(times)
    before = np.concatenate([np.full(size, times.min()), np.repeat(newest[size - 1 :: size], size)])
    late = int((times < before[: times.size]).sum())
    (row,) = session.ledger().to_pylist()
    assert late > 10_000
    assert (row["late"], row["applied"]) == (late, connections.num_rows - late)
    assert query.result()["n"].to_pylist() == [connections.num_rows - late]
