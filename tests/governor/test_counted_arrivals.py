"""Rows that are counted in shards tell the watch what the rows themselves would tell it."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.streams import ROWS, STARTS_US, TICK_US, batch_of, instant, plan_of
from windrow.governor.bounded.arrival_watch import ArrivalWatch
from windrow.governor.bounded.counted_arrivals import ArrivalCounter, CountedArrivals
from windrow.governor.bounded.inner_plan import InnerPlan, inner_plan, measures_of
from windrow.rows.faults import FaultError
from windrow.rows.prepare import Preparer

TEXTS = [
    "SELECT COUNT(*) AS c, SUM(d) AS e, COUNT(s) AS f FROM a [5 SECONDS] ERROR (9%)",
    "SELECT k, AVG(p) AS c, MAX(l) AS d, SUM(l + 1) AS e FROM a [3] GROUP BY k ERROR (9%)",
    "SELECT s, o, VAR_POP(f) AS c FROM a [RANGE 4 SLIDE 1] WHERE d > 0 GROUP BY s, o ERROR (9%)",
    "SELECT 1 AS one, k + 1 AS k, SUM(2) AS c FROM a [4] GROUP BY k + 1 ERROR (9%)",
]


@st.composite
def batches(draw: st.DrawFn) -> list[pa.RecordBatch]:
    """Rows of stream a, each batch later than the one before."""
    now = draw(st.sampled_from(STARTS_US))
    made = []
    for _ in range(draw(st.integers(1, 4))):
        ticks = draw(st.lists(st.integers(0, 7), max_size=8))
        rows = [{"ts": instant(now + each * TICK_US), **draw(ROWS["a"])} for each in ticks]
        made.append(batch_of("a", tuple(rows)))
        now += 8 * TICK_US
    return made


def counted(inner: InnerPlan, batch: pa.RecordBatch) -> CountedArrivals:
    rows = Preparer(inner.plan, 0).prepared_batch(batch)
    return CountedArrivals.from_parts(*ArrivalCounter(inner.plan).count(rows).to_parts())


def known(watch: ArrivalWatch) -> list[object]:
    """What the profile says, by the values of groups, in an order of its own."""
    state, groups = watch.profile.state(), watch._groups
    names = groups.columns(groups.known())
    by_code = dict(zip(groups.known().tolist(), zip(*names, strict=True), strict=False))
    cells = [
        (slot, repr(by_code.get(group)), repr(lanes.tolist()))
        for slot, group, lanes in zip(
            state.slot.tolist(), state.group.tolist(), state.cells, strict=True
        )
    ]
    return [state.pane_us, state.newest, state.arrivals.tolist(), sorted(cells)]


@given(st.sampled_from(TEXTS), batches(), st.data())
def test_a_watch_of_cells_knows_what_a_watch_of_rows_does(
    text: str, made: list[pa.RecordBatch], data: st.DataObject
) -> None:
    inner = inner_plan(plan_of(text))
    of_rows, of_cells = ArrivalWatch(inner), ArrivalWatch(inner)
    for batch in made:
        try:
            of_rows.take(batch)
        except FaultError:  # a value has no sum: such a query ends, and watches nothing more
            with pytest.raises(FaultError):
                counted(inner, batch)
            return
        of_cells.take_counted(counted(inner, batch))
        if data.draw(st.booleans()):
            loaded = ArrivalWatch(inner)
            loaded.load(of_cells.snapshot())
            of_cells = loaded
        if batch.num_rows:
            # A pane that has begun is added as a whole: at its end both know the same.
            last = batch.column("ts").cast(pa.int64()).to_numpy().max()
            until = (int(last) // of_rows.profile.pane_us + 1) * of_rows.profile.pane_us - 1
            for watch in (of_rows, of_cells):
                assert watch.next_stop(until) <= until
                watch.advance(until)
            assert known(of_rows) == known(of_cells)


def test_cells_wait_until_the_clock_reaches_their_pane() -> None:
    inner = inner_plan(plan_of(TEXTS[0]))
    rows = tuple({"ts": instant(second * 1_000_000)} for second in (1, 2, 30))
    watch = ArrivalWatch(inner)
    watch.take_counted(counted(inner, batch_of("a", rows)))
    watch.advance(5_000_000)
    assert watch.profile.state().arrivals.sum() == 2
    assert watch.next_stop(90_000_000) == pytest.approx(35_000_000, abs=watch.profile.pane_us)
    watch.advance(30_000_000)
    assert watch.profile.state().arrivals.sum() == 1  # the others are out of the ring


@pytest.mark.parametrize("text", TEXTS)
def test_measures_are_those_of_the_inner_plan(text: str) -> None:
    inner = inner_plan(plan_of(text))
    assert measures_of(inner.plan) == inner.measures == measures_of(plan_of(text))
    assert {each.measure for each in inner.aggregates} - {None} == set(range(len(inner.measures)))
