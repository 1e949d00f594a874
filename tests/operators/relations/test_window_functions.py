"""Functions over partitions in order, against computing all of them anew at every instant."""

from __future__ import annotations

import random
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.relation_changes import Change, assert_follows, changes_of, outcome, relation
from support.slow_windows import RANKINGS, slow_windows
from windrow.aggregate_functions import AGGREGATE_FUNCTIONS
from windrow.operators.relations.window_functions import WindowFunctionsOperator
from windrow.plan.expressions import Literal
from windrow.plan.relations.algebra import Field, Frame, OrderKey, WindowCall, WindowFunctions
from windrow.schema import BIGINT, BOOLEAN, DOUBLE, INT

ROWS = relation(
    "r",
    "k int, s string, d double, t timestamp, b boolean, p decimal(12, 2), y date, i smallint, "
    "w decimal(18, 4)",
)
WHOLE = Frame("rows", None, None)
PARTITIONS = st.sampled_from([(), (0,), (1,), (0, 1)])


def orders(most: int = 3) -> st.SearchStrategy[list[OrderKey]]:
    key = st.builds(
        lambda place, is_descending, nulls_first: OrderKey(
            ROWS.fields[place].ref, is_descending, nulls_first
        ),
        st.integers(0, len(ROWS.fields) - 1), st.booleans(), st.booleans(),
    )  # fmt: skip
    return st.lists(key, max_size=most)


@st.composite
def shifts(draw: st.DrawFn, name: str) -> WindowCall:
    """A call of LAG or LEAD."""
    value = draw(st.sampled_from(ROWS.fields))
    arguments = [value.ref]
    if draw(st.booleans()):
        arguments.append(Literal(draw(st.sampled_from([0, 1, 2, 3, -1])), INT))
        if draw(st.booleans()):
            same = [field for field in ROWS.fields if field.type == value.type]
            arguments.append(draw(st.sampled_from(same)).ref)
    function = draw(st.sampled_from(["lag", "lead"]))
    return WindowCall(Field(name, name, value.type), function, tuple(arguments), WHOLE)


def assert_all(node: WindowFunctions, changes: list[Change]) -> None:
    assert_follows(WindowFunctionsOperator, node, [changes], slow_windows(node))
    found = outcome(WindowFunctionsOperator(node), node, [changes], [])
    for _, now in groupby(found, key=lambda change: change.at):
        rows = [repr(change.row) for change in now]
        assert len(set(rows)) == len(rows), "an instant names a row twice"


@given(changes_of(ROWS, 10), orders(), PARTITIONS, st.data())
def test_lag_and_lead(changes, order, partition, data):
    count = data.draw(st.integers(1, 3))
    calls = tuple(data.draw(shifts(f"c{place}")) for place in range(count))
    by = tuple(ROWS.fields[place].ref for place in partition)
    assert_all(WindowFunctions(ROWS, by, tuple(order), calls), changes)


OF_NUMBERS = ["sum", "avg", "var_pop", "var_samp", "stddev_pop", "stddev_samp"]
OF_ANYTHING = ["count", "count_distinct", "first_value", "last_value", "nth_value"]
NUMBERS = ["k", "d", "p", "i", "w"]
ROW_BOUNDS = st.sampled_from([None, -3, -1, 0, 1, 2])
RANGE_BOUNDS = st.sampled_from([None, -2, -1, -0.5, 0, 0, 1, 1.5])


def field(name: str) -> Field:
    return next(each for each in ROWS.fields if each.name == name)


@st.composite
def frames(draw: st.DrawFn, has_one_key: bool) -> Frame:
    """Frames, backward and empty ones too."""
    unit = draw(st.sampled_from(["rows", "range"]))
    bounds = ROW_BOUNDS if unit == "rows" else RANGE_BOUNDS
    if unit == "range" and not has_one_key:
        bounds = st.sampled_from([None, 0])
    return Frame(unit, draw(bounds), draw(bounds))


@st.composite
def framed_calls(draw: st.DrawFn, name: str, has_one_key: bool) -> WindowCall:
    """A call of anything but LAG and LEAD."""
    frame = draw(frames(has_one_key))
    kind = draw(st.sampled_from(["ranking", "number", "anything", "extreme", "truth", "star"]))
    if kind == "ranking":
        function = draw(st.sampled_from(RANKINGS))
        is_share = function in ("percent_rank", "cume_dist")
        tiles = (Literal(draw(st.integers(1, 4)), INT),) if function == "ntile" else ()
        return WindowCall(Field(name, name, DOUBLE if is_share else INT), function, tiles, frame)
    if kind == "star":
        return WindowCall(Field(name, name, BIGINT), "count_star", (), frame)
    if kind == "truth":
        function = draw(st.sampled_from(["count_if", "bool_and", "bool_or"]))
        result = AGGREGATE_FUNCTIONS[function].type_of(BOOLEAN)
        return WindowCall(Field(name, name, result), function, (field("b").ref,), frame)
    if kind == "number":
        function = draw(st.sampled_from(OF_NUMBERS))
        value = field(draw(st.sampled_from(NUMBERS)))
        result = AGGREGATE_FUNCTIONS[function].type_of(value.type)
        return WindowCall(Field(name, name, result), function, (value.ref,), frame)
    value = draw(st.sampled_from(ROWS.fields))
    names = ["min", "max"] if kind == "extreme" else OF_ANYTHING
    function = draw(st.sampled_from(names))
    known = AGGREGATE_FUNCTIONS.get(function)
    result = value.type if known is None else known.type_of(value.type)
    nth = (Literal(draw(st.integers(1, 3)), INT),) if function == "nth_value" else ()
    return WindowCall(Field(name, name, result), function, (value.ref, *nth), frame)


@given(changes_of(ROWS, 10), PARTITIONS, st.data())
def test_functions_over_frames(changes, partition, data):
    has_one_key = data.draw(st.booleans())
    if has_one_key:
        key = OrderKey(
            field(data.draw(st.sampled_from("kdtpyi"))).ref,
            data.draw(st.booleans()), data.draw(st.booleans()),
        )  # fmt: skip
        order = [key]
    else:
        order = data.draw(orders())
    count = data.draw(st.integers(1, 3))
    calls = tuple(
        data.draw(st.one_of(framed_calls(f"c{i}", has_one_key), shifts(f"c{i}")))
        for i in range(count)
    )
    by = tuple(ROWS.fields[place].ref for place in partition)
    assert_all(WindowFunctions(ROWS, by, tuple(order), calls), changes)


NARROW = relation("n", "k int, v int")


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("frame", [
    Frame("rows", -2, 0), Frame("rows", -1, 3), Frame("rows", None, 0), Frame("rows", 0, None),
    Frame("range", -5, 5), Frame("range", None, 0), Frame("range", 1, 6), Frame("range", 0, 0),
])  # fmt: skip
def test_sums_over_frames_of_many_rows(seed, frame):
    key, value = NARROW.fields
    call = WindowCall(Field("c", "c", BIGINT), "sum", (value.ref,), frame)
    node = WindowFunctions(NARROW, (key.ref,), (OrderKey(value.ref),), (call,))
    assert_all(node, many_changes(seed, 2))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weight", [1, 6])
def test_lag_and_lead_of_many_rows(seed, weight):
    changes = many_changes(seed, weight)
    key, value = NARROW.fields
    calls = tuple(
        WindowCall(Field(f"c{i}", f"c{i}", INT), name, (value.ref, Literal(distance, INT)), WHOLE)
        for i, (name, distance) in enumerate([("lag", 1), ("lead", 2), ("lag", 3)])
    )
    assert_all(WindowFunctions(NARROW, (key.ref,), (OrderKey(value.ref),), calls), changes)


def many_changes(seed: int, weight: int) -> list[Change]:
    numbers = random.Random(seed)
    changes, held = [], []
    for at in range(40):
        for _ in range(numbers.randint(1, 3)):
            row, count = (numbers.randint(0, 1), numbers.randint(0, 60)), numbers.randint(1, weight)
            held.append((count, row))
            changes.append(Change(at, count, row))
        while len(held) > 20:
            count, row = held.pop(numbers.randint(0, len(held) - 1))
            changes.append(Change(at, -count, row))
    return changes
