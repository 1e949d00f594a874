"""The governor at work against a runner that holds no rows, and a slow twin that always decides."""

from __future__ import annotations

from functools import partial

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.governor_port import SECOND, FakePort, FakeQuery
from windrow.errors import AdmissionError
from windrow.governor.admission import Refused
from windrow.governor.decide import decide
from windrow.governor.demands import MeasuredTables, demands_on, measured_tables
from windrow.governor.tables import Decision, Demand
from windrow.governor.width_orders import WORTH_CHANGING
from windrow.governor.window_governor import WindowGovernor
from windrow.service_levels import UNMET
from windrow.windows.row_store import spare_share

EXACT = "SELECT COUNT(*) AS n FROM b [60 SECONDS]"
LOOSE = EXACT + " ERROR (40%)"
PATIENT = "SELECT COUNT(*) AS n FROM b [20 SECONDS] ERROR (40%) EVERY (60 SECONDS)"
HOPPING = "SELECT COUNT(*) AS n FROM b [RANGE 60 SECONDS SLIDE 5 SECONDS] ERROR (40%)"
COUNTED = "SELECT COUNT(*) AS n FROM b [ROWS 60]"
MORTAL = LOOSE + " DURATION [5, 90]"
# Bytes of a window of 60 seconds with 100 rows a second, spare room included.
WHOLE = 60 * 100 * 9.6


def governor_of(port: FakePort, *, is_thorough: bool = False) -> WindowGovernor:
    return WindowGovernor(port, int(port.available), "WA102", is_thorough=is_thorough)


def slow_review(port: FakePort) -> Decision | Refused:
    """The twin: it decides from nothing, whatever has been decided before."""
    windows, demands, fixed = measured_tables(port.windows(), port.fixed)
    return decide(windows, demands, port.available, fixed, port.now_us, quick=True)


def demands_of(port: FakePort) -> list[Demand]:
    return [demand for window in port.windows() for demand in demands_on(window)]


def whys(governor: WindowGovernor) -> list[str]:
    table: pa.Table = governor.decisions()
    return list(dict.fromkeys(table["why"].to_pylist()))


def test_a_window_is_narrowed_for_one_that_needs_its_range() -> None:
    loose = FakeQuery("loose", LOOSE, tolerated_us=24 * SECOND)
    port = FakePort(1.7 * WHOLE, [loose])
    governor = governor_of(port)
    governor.started("loose")
    assert (governor.case, loose.orders) == ("A", [])
    exact = FakeQuery("exact", EXACT)
    port.queries.append(exact)
    assert governor.start_matters("exact")
    governor.started("exact")
    assert governor.case == "B"
    assert exact.orders == []
    (order,) = loose.orders
    assert 36 * SECOND <= order.hold_us - 1 <= 43 * SECOND
    assert port.reclaimed == 1
    assert [governor.level(each) for each in demands_of(port)] == ["B", "A"]
    port.queries.remove(exact)
    governor.ended("exact")
    assert loose.orders[-1].hold_us - 1 == 60 * SECOND
    assert whys(governor) == ["query loose starts", "query exact starts", "query exact ends"]
    port.queries.clear()
    governor.ended("loose")
    assert not governor.has_decided


def test_windows_that_can_wait_take_turns() -> None:
    queries = [FakeQuery(name, PATIENT, tolerated_us=2 * SECOND) for name in ("one", "other")]
    port = FakePort(0.4 * WHOLE, queries)
    governor = governor_of(port)
    governor.started("other")
    assert governor.case == "C"
    assert all(query.lifetime.turn_growth_us for query in queries)
    assert {governor.level(each) for each in demands_of(port)} == {"C"}
    before = [query.lifetime for query in queries]
    for _ in range(9):  # turns that serve all go on
        port.now_us += 8 * SECOND
        governor.after_step()
    assert [query.lifetime for query in queries] == before
    for query in queries:
        query.tolerated_us = 0
    port.available = 0.7 * WHOLE
    port.now_us += 8 * SECOND
    governor.after_step()
    assert governor.case == "A"
    assert whys(governor)[-1] == "tolerances have changed"


def test_rates_that_leave_their_band_ask_for_a_decision() -> None:
    query = FakeQuery("loose", LOOSE, tolerated_us=30 * SECOND)
    port = FakePort(1.2 * WHOLE, [query])
    governor = governor_of(port)
    governor.started("loose")
    seen = []
    for query.rate in (100.0, 120.0, 150.0, 180.0, 80.0):
        governor.after_step()
        seen.append((governor.case, len(query.orders)))
    # Within the band of the last decision a rate changes nothing.
    assert seen == [("A", 0), ("A", 0), ("B", 1), ("B", 1), ("A", 2)]
    assert whys(governor) == ["query loose starts", "rate of loose.b"]


def test_slides_stay_whole() -> None:
    query = FakeQuery("hopping", HOPPING, tolerated_us=24 * SECOND)
    governor = governor_of(FakePort(0.79 * WHOLE, [query]))
    governor.started("hopping")
    assert governor.case == "B"
    assert query.lifetime.hold_us % (5 * SECOND) == 0
    assert query.lifetime.hold_us < 60 * SECOND


def test_a_life_is_watched() -> None:
    query = FakeQuery("mortal", MORTAL, tolerated_us=24 * SECOND)
    port = FakePort(0.79 * WHOLE, [query])
    governor = governor_of(port)
    governor.started("mortal")
    assert not governor.has_nothing_due
    port.now_us = 5 * SECOND
    governor.after_step()
    assert governor.case == "B"
    assert whys(governor)[-1] == "a life begins or ends"


def test_what_does_not_fit_is_said_and_nothing_changes() -> None:
    query = FakeQuery("exact", EXACT)
    port = FakePort(1.2 * WHOLE, [query])
    governor = governor_of(port)
    governor.started("exact")
    query.rate = 200.0
    refused = governor.review("memory is short", is_short=True)
    assert refused is not None
    # Of so many rows a smaller part is spare.
    rows = 60 * 200
    assert refused.least_bytes == pytest.approx(rows * 8 * (1 + spare_share(rows)))
    assert governor.case == "A"
    assert (query.orders, whys(governor)) == ([], ["query exact starts"])


def test_all_that_is_tolerated_is_used_when_rows_have_no_room() -> None:
    query = FakeQuery("loose", LOOSE, tolerated_us=24 * SECOND)
    port = FakePort(2 * WHOLE, [query])
    governor = governor_of(port)
    governor.started("loose")
    governor.use_tolerance("rows have no room")
    assert query.lifetime.hold_us - 1 == 36 * SECOND
    assert whys(governor)[-1] == "rows have no room"


@pytest.mark.parametrize("is_thorough", [False, True])
def test_a_query_is_refused_where_no_rate_makes_it_fit(is_thorough: bool) -> None:
    running, new = FakeQuery("exact", EXACT), FakeQuery("new", EXACT, rate=0.0)
    port = FakePort(1.2 * WHOLE, [running])
    governor = governor_of(port, is_thorough=is_thorough)

    def foreseen(is_average: bool, *, average: float) -> MeasuredTables:
        rate = average if is_average else 100.0
        windows = [running.window(), new.window()]
        return measured_tables(windows, 0.0, lambda *_: rate, is_average=is_average)

    governor.admit("new", partial(foreseen, average=10.0), port.windows())
    with pytest.raises(AdmissionError, match=r"WA102.*'new'"):
        governor.admit("new", partial(foreseen, average=100.0), port.windows())
    assert not governor.has_decided


texts = st.sampled_from([EXACT, LOOSE, PATIENT, HOPPING, COUNTED])
queries = st.tuples(texts, st.sampled_from([25.0, 50.0, 100.0, 200.0]), st.integers(0, 30))
events = st.one_of(
    st.tuples(st.just("start"), queries),
    st.tuples(st.just("end"), st.integers(0, 9)),
    st.tuples(st.just("faster"), st.integers(0, 9)),
    st.tuples(st.just("slower"), st.integers(0, 9)),
    st.tuples(st.just("tolerate"), st.tuples(st.integers(0, 9), st.integers(0, 30))),
)


@given(
    st.lists(st.tuples(st.just("start"), queries), min_size=1, max_size=4),
    st.lists(events, min_size=3, max_size=8),
    st.integers(5, 60),
)
def test_it_decides_when_that_changes_anything(
    first: list[tuple[str, object]], then: list[tuple[str, object]], tenths: int
) -> None:
    """After each event the case is that of a twin which decides anew each time."""
    port = FakePort(tenths / 10 * WHOLE)
    governor = governor_of(port)
    for number, event in enumerate([*first, *then]):
        _happens(port, governor, number, event)
        twin = slow_review(port)
        if not port.queries or isinstance(twin, Refused):
            continue
        assert governor.case == twin.case
        alive = demands_of(port)
        assert all(governor.level(each) != UNMET for each in alive)
        for query, demand in zip(port.queries, alive, strict=True):
            _check_width(query, demand, governor.level(demand))


def _happens(
    port: FakePort, governor: WindowGovernor, number: int, event: tuple[str, object]
) -> None:
    what, value = event
    if what == "start":
        text, rate, tolerated = value  # type: ignore[misc] # a query's parts
        port.queries.append(FakeQuery(f"q{number}", text, rate, tolerated * SECOND))
        governor.started(f"q{number}")
        return
    if not port.queries:
        return
    place, tolerated = value if isinstance(value, tuple) else (value, 0)
    query = port.queries[place % len(port.queries)]  # type: ignore[operator] # a number
    if what == "end":
        port.queries.remove(query)
        governor.ended(query.name)
        return
    if what == "tolerate":
        query.tolerated_us = tolerated * SECOND if query.plan.error_percent else 0
    else:
        query.rate *= 2.0 if what == "faster" else 0.5
    port.now_us += 60 * SECOND  # later than the next review, if one is due
    governor.after_step()


def _check_width(query: FakeQuery, demand: Demand, level: str) -> None:
    """What was ordered is what the level says; a query without ERROR is never told anything."""
    if query.plan.error_percent is None:
        assert query.orders == []
    elif level == "A":
        assert query.lifetime.turn_ends is None
    elif level == "B":
        assert WORTH_CHANGING * query.lifetime.hold_us >= demand.least_us
