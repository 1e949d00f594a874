"""Queries that share an operator: each answers as if it ran alone, whoever comes and goes."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark.worker.test_width_orders import exactly, net
from support.spark.driven_bundle import DrivenBundle
from support.spark.driven_job import heartbeat
from support.streams import ROWS, STREAMS, TICK_US, batch_of, instant, plan_of
from windrow.embedded.session import EmbeddedSession
from windrow.errors import CheckpointError
from windrow.event_time import END_OF_TIME
from windrow.plan.model import QueryPlan
from windrow.spark.driver.bundle_record import BundleRecord
from windrow.spark.driver.bundle_registry import BundleRegistry
from windrow.spark.shuffle.carrier import SharedPartitioning, shared_partitioning
from windrow.spark.shuffle.member_orders import MemberOrder, orders_in_turn
from windrow.storage import Storage

JOINS = [
    "SELECT COUNT(*) AS c FROM a [5 SECONDS], b [3 SECONDS] WHERE a.k = b.k",
    "SELECT a.k, COUNT(*) AS c, SUM(a.l % 10) AS s FROM a [3 SECONDS], b [8 SECONDS] "
    "WHERE a.k = b.k GROUP BY a.k",
    "SELECT AVG(b.d) AS m FROM a [5 SECONDS], b [3 SECONDS] WHERE a.k = b.k AND a.d > 0",
    "SELECT a.s, MAX(b.d) AS m FROM a [4 SECONDS], b [4 SECONDS] WHERE a.k = b.k AND a.s = b.s "
    "GROUP BY a.s",
    "SELECT COUNT(*) AS c FROM a [RANGE 4 SECONDS SLIDE 2 SECONDS], b [3 SECONDS] "
    "WHERE a.k = b.k EVERY (2 SECONDS)",
    "SELECT a.s, b.l FROM a [2 SECONDS], b [2 SECONDS] WHERE a.k = b.k AND a.d > b.d",
]
SINGLE = [
    "SELECT COUNT(*) AS c FROM a [5 SECONDS]",
    "SELECT k, s, SUM(p) AS c FROM a [3 SECONDS] GROUP BY k, s",
    "SELECT k, MIN(d) AS m, COUNT(l) AS c FROM a [8 SECONDS] WHERE o GROUP BY k EVERY (1 SECOND)",
    "SELECT DISTINCT k FROM a [2 SECONDS]",
]


@dataclass(frozen=True)
class Guest:
    """A query that runs from one batch on up to another."""

    text: str
    begin: int
    end: int


@st.composite
def guests(draw: st.DrawFn) -> list[Guest]:
    texts = draw(st.lists(st.sampled_from(draw(st.sampled_from([JOINS, SINGLE]))), max_size=4))
    found = []
    for text in texts:
        begin = draw(st.integers(0, 5))
        found.append(Guest(text, begin, draw(st.sampled_from([begin + 1, begin + 3, 99]))))
    return found


@st.composite
def batches(draw: st.DrawFn) -> list[dict[str, pa.RecordBatch]]:
    """Batches of streams a and b without late rows; those of a are in disorder."""
    now, made = draw(st.sampled_from([0, -7_000_000])), []
    for _ in range(draw(st.integers(1, 7))):
        tables = {}
        for stream, oldest in (("a", -3), ("b", 0)):
            ticks = sorted(draw(st.lists(st.integers(oldest, 4), max_size=5)))
            rows = [{"ts": instant(now + each * TICK_US), **draw(ROWS[stream])} for each in ticks]
            tables[stream] = batch_of(stream, tuple(rows))
        made.append(tables)
        now += (4 + draw(st.sampled_from([1, 4, 30]))) * TICK_US
    return made


def common_partitioning(plans: list[QueryPlan]) -> SharedPartitioning:
    found = [
        partitioning
        for partitioning in map(shared_partitioning, plans)
        if isinstance(partitioning, SharedPartitioning)
    ]
    assert len(found) == len(plans)

    def shared(one: SharedPartitioning, other: SharedPartitioning) -> SharedPartitioning:
        both = one.shared_with(other)
        assert both is not None
        return both

    return reduce(shared, found)


def in_this_process(
    invited: list[Guest], made: list[dict[str, pa.RecordBatch]]
) -> list[dict[str, pa.Table]]:
    """Answers, changes and result of each query in an embedded session."""
    session = EmbeddedSession("1 GB")
    for name in ("a", "b"):
        schema = STREAMS[name]
        lateness = schema.lateness_us / 1_000_000
        session.stream(name, schema.arrow, time="ts", lateness=lateness)
    queries = {}
    for number, tables in enumerate(made):
        for place, guest in enumerate(invited):
            if guest.begin == number:
                queries[place] = session.query(guest.text)
            if guest.end == number:
                queries[place].stop()
        for stream, batch in tables.items():
            session.push(stream, batch)
    session.finish()
    return [
        {
            "answers": queries[place].answers(),
            "changes": queries[place].changes(),
            "result": queries[place].result(),
        }
        for place in sorted(queries)
    ]


@given(guests(), batches(), st.integers(1, 3), st.data())
def test_queries_of_a_bundle_answer_as_if_alone(
    invited: list[Guest],
    made: list[dict[str, pa.RecordBatch]],
    buckets: int,
    data: st.DataObject,
) -> None:
    invited = sorted(
        (guest for guest in invited if guest.begin < len(made)), key=lambda guest: guest.begin
    )
    if not invited:
        return
    expected = in_this_process(invited, made)
    plans = [plan_of(guest.text) for guest in invited]
    streams = plans[0].streams
    given_so_far: dict[int, list[dict[str, pa.Table]]] = {i: [] for i in range(len(plans))}
    with tempfile.TemporaryDirectory() as folder:
        bundle = DrivenBundle(common_partitioning(plans), Path(folder), buckets)
        for number, tables in enumerate([*made, None]):
            orders = [] if tables else [heartbeat(stream, END_OF_TIME) for stream in streams]
            begin = [place for place, guest in enumerate(invited) if guest.begin == number]
            orders += [bundle.begin(place, plans[place], grid(plans[place])) for place in begin]
            ends = [place for place, guest in enumerate(invited) if guest.end == number]
            orders += [bundle.end(place) for place in ends] if tables else []
            read = {stream: (tables or {})[stream] for stream in streams} if tables else {}
            before = [state.copy() for state in bundle.states]
            found = bundle.batch(read, orders)
            if data.draw(st.sampled_from([False, False, True])):
                # The batch was never committed: it is given again, perhaps to others.
                bundle.states, bundle.batch_id = before, number
                if data.draw(st.booleans()):
                    bundle.restart()
                assert_same(bundle.batch(read, orders), found)
            for place, feeds in found.items():
                given_so_far[place].append(feeds)
    for place, wanted in enumerate(expected):
        parts = given_so_far[place]
        answers = pa.concat_tables([part["answers"] for part in parts])
        assert exactly(answers) == exactly(wanted["answers"]), invited[place]
        if grid(plans[place]) == 1:
            changes = pa.concat_tables([part["changes"] for part in parts])
            assert net(changes) == net(wanted["changes"]), invited[place]
        if grid(plans[place]) == 1 and invited[place].end >= len(made):
            assert sorted(exactly(parts[-1]["result"])) == sorted(exactly(wanted["result"]))


def grid(plan: QueryPlan) -> int:
    """Answers at ticks need no changes in between."""
    return plan.every_us or 1


def assert_same(
    again: Mapping[int, Mapping[str, pa.Table]], found: Mapping[int, Mapping[str, pa.Table]]
) -> None:
    assert again.keys() == found.keys()
    for place, feeds in found.items():
        for feed, table in feeds.items():
            assert exactly(again[place][feed]) == exactly(table), (place, feed)


COUNT, GROUPS = SINGLE[0], "SELECT k, COUNT(*) AS c FROM a [9 SECONDS] GROUP BY k"


def steady(seconds: int) -> pa.RecordBatch:
    rows = [{"ts": instant(n * 100_000), "k": n % 7} for n in range(10 * seconds)]
    return batch_of("a", tuple(rows))


def test_rows_are_stored_and_held_once_for_all_queries(tmp_path: Path) -> None:
    plans = [plan_of(COUNT.replace("5", str(length))) for length in range(3, 9)]
    sizes = []
    for name, invited in (("one", plans[-1:]), ("many", plans)):
        bundle = DrivenBundle(common_partitioning(invited), tmp_path / name)
        orders = [bundle.begin(number, plan) for number, plan in enumerate(invited)]
        bundle.batch({"a": steady(60)}, orders)
        stored = sum(len(data) for place, data in bundle.states[0].segments.items() if place >= 0)
        held = bundle.caches[0]._shelf._held["owner", 0][1]._pool.nbytes  # type: ignore[attr-defined]
        sizes.append((stored, held))
    assert sizes[0] == sizes[1]


def test_shared_rows_count_once_towards_the_budget(tmp_path: Path) -> None:
    totals = {}
    for count in (1, 4):
        plans = [plan_of(COUNT.replace("5", "50"))] * count
        bundle = DrivenBundle(common_partitioning(plans), tmp_path / str(count))
        orders = [bundle.begin(number, plan) for number, plan in enumerate(plans)]
        bundle.batch({"a": steady(60)}, orders)
        found = [each.status.windows[0] for each in bundle.publications.values()]
        totals[count] = sum(window.column_bytes for window in found)
        assert len({window.column_bytes for window in found}) == 1
    held = bundle.caches[0]._shelf._held["owner", 0][1]._pool.nbytes  # type: ignore[attr-defined]
    own = totals[1] - held
    assert 0 < own < held
    assert 4 * own + held - 4 <= totals[4] <= 4 * own + held


def test_rows_go_when_the_query_that_needed_them_ends(tmp_path: Path) -> None:
    plans = [plan_of(COUNT), plan_of(COUNT.replace("5", "600"))]
    bundle = DrivenBundle(common_partitioning(plans), tmp_path)
    bundle.batch({"a": steady(60)}, [bundle.begin(n, plan) for n, plan in enumerate(plans)])
    late = [{"ts": instant(n * 1_000_000), "k": 1} for n in range(60, 80)]
    bundle.batch({"a": batch_of("a", tuple(late))})
    assert bundle.states[0].segments.keys() == {-2, -1, 0, 1}
    bundle.batch({}, [bundle.end(1)])
    assert bundle.states[0].segments.keys() == {-1, 1}


def test_an_order_that_comes_twice_counts_once() -> None:
    begin, end = MemberOrder(3, "plan"), MemberOrder(3)
    assert orders_in_turn([begin, begin], [], 2) == [begin]
    assert orders_in_turn([begin], [3], 3) == []
    assert orders_in_turn([end, end], [3], 3) == [end]
    assert orders_in_turn([end], [], 3) == []
    assert orders_in_turn([end, begin], [], 2) == [begin, end]


def test_an_order_that_comes_after_a_younger_one_counts(tmp_path: Path) -> None:
    plans = [plan_of(COUNT), plan_of(GROUPS)]
    bundles = [DrivenBundle(common_partitioning(plans), tmp_path / name) for name in ("a", "b")]
    for number, begun in enumerate([1, 0, None, 0]):
        given = []
        for bundle in bundles:
            orders = [] if begun is None else [bundle.begin(begun, plans[begun])]
            given.append(bundle.batch({"a": steady(2 * number + 2)}, orders))
        assert given[0] == given[1]
        assert given[0].keys() == ({1} if number == 0 else {0, 1})
        bundles[1].restart()
    assert given[0][0]["answers"].num_rows > 0


def test_a_bundle_that_has_lost_its_book_is_refused(tmp_path: Path) -> None:
    partitioning = common_partitioning([plan_of(COUNT)])
    name = f"bundle-{partitioning.fingerprint[:12]}"
    nobody: Any = None
    root = Storage(tmp_path)
    room = BundleRegistry(nobody, root, {}, 1, lambda: None)
    BundleRecord(root.inside(name), partitioning).add("q", plan_of(COUNT))
    assert room.recorded() == ["q"]
    (tmp_path / name / "windrow.json").write_bytes(b"")
    (tmp_path / name / "bundle.book").unlink()
    with pytest.raises(CheckpointError, match="WC241"):
        BundleRegistry(nobody, root, {}, 1, lambda: None).recorded()


def test_a_lost_plan_is_refused(tmp_path: Path) -> None:
    bundle = DrivenBundle(common_partitioning([plan_of(COUNT)]), tmp_path)
    bundle.batch({"a": steady(2)}, [bundle.begin(0, plan_of(COUNT))])
    del bundle.states[0].segments[-1]
    bundle.restart()
    with pytest.raises(CheckpointError, match="lost the plan"):
        bundle.batch({})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{COUNT} ERROR (5%)", "governed"),
        (f"{COUNT} DURATION [1, 9]", "life"),
        ("SELECT COUNT(*) AS c FROM a [ROWS 5]", "not a time window"),
        ("SELECT COUNT(DISTINCT s) AS c FROM a [5 SECONDS]", "separates"),
        ("SELECT k FROM a [5 SECONDS] LEFT ANTI JOIN b [5 SECONDS] ON a.k = b.k", "negates"),
        (
            "SELECT COUNT(*) AS c FROM a [5 SECONDS] AS x, a [5 SECONDS] AS y WHERE x.k = y.l",
            "two keys",
        ),
    ],
)
def test_queries_that_run_alone_say_why(text: str, reason: str) -> None:
    assert reason in str(shared_partitioning(plan_of(text)))


def test_dealing_finds_what_queries_have_in_common() -> None:
    anywhere, by_key, by_two, join = (
        shared_partitioning(plan_of(text)) for text in (COUNT, GROUPS, SINGLE[1], JOINS[0])
    )
    assert isinstance(anywhere, SharedPartitioning)
    assert isinstance(by_key, SharedPartitioning)
    assert isinstance(by_two, SharedPartitioning)
    assert isinstance(join, SharedPartitioning)
    assert anywhere.shared_with(by_two) == by_two
    assert by_two.shared_with(by_key) == by_key
    assert by_key.serves(by_two)
    assert by_key.serves(anywhere)
    assert not by_two.serves(by_key)
    assert not anywhere.serves(by_key)
    assert join.shared_with(by_key) is None
    assert not join.serves(by_key)
