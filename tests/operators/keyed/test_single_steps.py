"""One row in one compiled call leaves, to the byte, what a batch of one row leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from support.streams import plan_of
from windrow.operators.keyed import operator as keyed
from windrow.operators.keyed.operator import FactorisedOperator
from windrow.operators.operator import Operator
from windrow.operators.partial import Partial
from windrow.operators.registry import operator_for
from windrow.rows.shape import shape_of
from windrow.windows.codes import NO_CODE, WordCodes
from windrow.windows.lifetime import Lifetime
from windrow.windows.window import Window

WINDOWS = "a [3 MICROSECONDS], b [5 MICROSECONDS]"
FORMS = {
    "counted": f"SELECT COUNT(*) AS n FROM {WINDOWS} WHERE a.k = b.k",
    "summed": f"SELECT COUNT(*) AS n, SUM(a.l) AS t FROM {WINDOWS} WHERE a.k = b.k",
    "summed of both inputs": f"SELECT SUM(a.l) AS t, SUM(b.l) AS u, AVG(b.k) AS v FROM {WINDOWS} "
    "WHERE a.k = b.k",
    "of doubles": f"SELECT COUNT(*) AS n, SUM(a.d) AS t FROM {WINDOWS} WHERE a.k = b.k",
    "by texts": f"SELECT COUNT(*) AS n, SUM(a.l) AS t FROM {WINDOWS} WHERE a.s = b.s",
    "by two columns": f"SELECT COUNT(*) AS n FROM {WINDOWS} WHERE a.k = b.k AND a.l = b.l",
    "by key": f"SELECT a.k AS k, SUM(a.l) AS t FROM {WINDOWS} WHERE a.k = b.k GROUP BY a.k",
    "by group": f"SELECT b.s AS s, SUM(a.l) AS t FROM {WINDOWS} WHERE a.k = b.k GROUP BY b.s",
    "of one window": "SELECT k, COUNT(*) AS n, SUM(l) AS t FROM a [3 MICROSECONDS] GROUP BY k",
}
COMPILED = ("counted", "summed", "summed of both inputs")


class Step(NamedTuple):
    """A row relative to those before: gap to the last one, and how far the clock is ahead of it."""

    gap: int
    input_index: int
    key: int
    value: int | None
    weight: int = 1
    ahead: int = -1


def new(form: str, grid_us: int = 1) -> FactorisedOperator:
    plan = plan_of(FORMS[form])
    operator = operator_for(plan, shape_of(plan), grid_us, "factorised")
    assert isinstance(operator, FactorisedOperator)
    return operator


def arguments(operator: FactorisedOperator, steps: Sequence[Step]) -> list[tuple[Any, ...]]:
    """What step() is given: rows later than the clock, in any order, and clocks that move on."""
    at, clock, found = 100, 0, []
    for each in steps:
        input_index = each.input_index % len(operator.windows)
        columns = operator._columns[input_index]
        at = max(at + each.gap, clock + 1)
        clock = max(clock, at + each.ahead)
        plain = [_given(each.key, kind) for kind in columns.schema.types[1 : columns.values.start]]
        values = [_given(each.value, kind) for kind in columns.schema.types[columns.values]]
        found.append((at, input_index, each.weight, plain, values, clock))
    return found


def _given(number: int | None, kind: Any) -> object:
    if number is None:
        return None
    given = {"string": str, "double": float}.get(str(kind), int)
    return given(number)


def codes_bytes(codes: object) -> list[Any]:
    if not isinstance(codes, WordCodes):
        return [sorted(codes._code_of_text.items()), codes._references.tolist()]  # type: ignore[attr-defined]
    slots, counters = codes._slot_code, codes._counters
    words = np.where(slots == NO_CODE, 0, codes._slot_word)
    known, stacked = codes._word_of_code[: counters[1]], codes._free[: counters[2]]
    return [each.tolist() for each in (slots, words, known, stacked, counters, codes._references)]


def window_bytes(window: Window) -> list[Any]:
    columns, store = window.columns, window.columns.store
    end = store.end
    held = [
        store.times[: end + 1],
        store.values[:, :end],
        store.valid[:, :end],
        columns.codes[:end],
    ]
    held += [columns.weights[:end], columns.cursor]
    places = np.arange(store.capacity)[store.appended].tolist()
    return [each.tolist() for each in held] + [end, store.base, store.capacity, places]


def state_bytes(operator: FactorisedOperator) -> list[Any]:
    """All that an operator knows, but for what arrays hold where nothing was written yet."""
    aggregate, coding = operator._aggregate, operator._coding
    room = aggregate._room
    coders = [each for each in (coding._keys, *coding._groups) if each is not None]
    tables = [codes for coder in coders for codes in (*coder._columns, *coder._pairs)]
    out = [room.control, room.at[: room.used], room.group[: room.used], room.count[: room.used]]
    arrays = [*aggregate.state, *out, room.lanes[: room.used]]
    found: list[Any] = [each.tolist() for each in arrays]
    found += [codes_bytes(each) for each in tables]
    found += [window_bytes(each) for each in operator.windows]
    found += [window._opened for window in operator.windows]
    return [*found, room.at.size, aggregate._layout, aggregate._fit._largest, operator._entered]


def partial_bytes(partial: Partial) -> list[Any]:
    arrays = (partial.at, partial.group, partial.count, partial.lanes)
    return [
        *(each.tolist() for each in arrays),
        partial.layout,
        partial.groups,
        partial.group_count,
    ]


def check_alike(single: FactorisedOperator, whole: FactorisedOperator, steps: list[Step]) -> None:
    for given_step in arguments(single, steps):
        found = single.step(*given_step)
        expected = Operator.step(whole, *given_step)
        assert partial_bytes(found) == partial_bytes(expected)
        assert state_bytes(single) == state_bytes(whole)


numbers = st.integers(-3, 3)
steps_of = st.lists(
    st.builds(
        Step,
        gap=st.integers(-3, 4),
        input_index=st.integers(0, 1),
        key=st.integers(0, 3),
        value=numbers,
        weight=st.just(1),
        ahead=st.integers(-4, 8),
    ),
    max_size=14,
)
mixed_steps = st.lists(
    st.builds(
        Step,
        gap=st.integers(-3, 4),
        input_index=st.integers(0, 1),
        key=st.integers(0, 3),
        value=st.none() | numbers | st.sampled_from([2**15 - 1, -(2**15)]),
        weight=st.sampled_from([1, 1, 1, 1, 3]),
        ahead=st.integers(-4, 8),
    ),
    max_size=14,
)


@pytest.mark.parametrize("grid_us", [1, 4])
@pytest.mark.parametrize("form", COMPILED)
@given(steps=steps_of)
def test_plain_rows(form: str, grid_us: int, steps: list[Step]) -> None:
    check_alike(new(form, grid_us), new(form, grid_us), steps)


@pytest.mark.parametrize("form", FORMS)
@given(steps=mixed_steps)
@example(steps=[Step(0, 0, 1, 2), Step(0, 1, 1, 2), Step(1, 0, 1, None), Step(9, 1, 1, 2, 1, 20)])
def test_rows_with_null_and_weights(form: str, steps: list[Step]) -> None:
    single, whole = new(form), new(form)
    if single._aggregate.is_wide:
        steps = [each._replace(weight=1) for each in steps]  # the shard expands them there
    check_alike(single, whole, steps)


def long_stream(count: int, keys: int, ahead: int) -> list[Step]:
    chosen = np.random.default_rng(7)
    return [
        Step(int(gap), int(input_index), int(key), int(value), 1, ahead)
        for gap, input_index, key, value in zip(
            chosen.integers(0, 2, count),
            chosen.integers(0, 2, count),
            chosen.integers(0, keys, count),
            chosen.integers(-9, 9, count),
            strict=True,
        )
    ]


@pytest.mark.parametrize("keys", [3, 500])
@pytest.mark.parametrize("ahead", [-1, -40])
def test_what_grows_does_so_at_the_same_row(keys: int, ahead: int) -> None:
    check_alike(new("summed"), new("summed"), long_stream(300, keys, ahead))


def test_many_rows_leave_at_once() -> None:
    steps = [*long_stream(200, 20, -150), Step(1, 0, 1, 1, 1, 1000), Step(0, 1, 1, 1)]
    check_alike(new("summed of both inputs"), new("summed of both inputs"), steps)


def test_sums_that_become_wide() -> None:
    steps = [Step(1, 0, 1, 5), Step(1, 1, 1, 5), Step(1, 0, 1, 2**61), Step(1, 1, 1, 5)]
    single, whole = new("summed"), new("summed")
    check_alike(single, whole, steps)
    assert single._aggregate.is_wide


def test_a_window_that_was_narrowed() -> None:
    single, whole = new("summed"), new("summed")
    steps = arguments(single, long_stream(40, 2, -6))
    for number, each in enumerate(steps):
        if number == 20:
            narrowed = Lifetime(1, 2, floor_us=each[0] + 4)
            for operator in (single, whole):
                operator.change_lifetime(1, narrowed)
        assert partial_bytes(single.step(*each)) == partial_bytes(Operator.step(whole, *each))
        assert state_bytes(single) == state_bytes(whole)


def test_a_row_that_leaves_no_earlier_than_the_narrowing() -> None:
    single, whole = new("summed"), new("summed")
    given_steps = arguments(single, [*long_stream(10, 1, -1), Step(9, 0, 0, 1, 1, 8)])
    for each in given_steps:
        single.step(*each)
        whole.step(*each)
    last_us = given_steps[-1][-1]
    for operator in (single, whole):
        operator.change_lifetime(0, Lifetime(1, 2, floor_us=last_us + 10))
    for input_index, until in ((1, last_us + 1), (0, last_us + 20)):
        row = (last_us + 2, input_index, 1, [0], [5] * (1 - input_index), until)
        found, expected = single.step(*row), Operator.step(whole, *row)
        assert partial_bytes(found) == partial_bytes(expected)
        assert state_bytes(single) == state_bytes(whole)


def test_more_states_than_there_was_room_for() -> None:
    single, whole = new("summed"), new("summed")
    waiting = [Step(1, number % 2, 0, 1, 1, -2000) for number in range(1200)]
    given_steps = arguments(single, [*waiting, Step(1, 0, 0, 1, 1, 10), Step(1, 1, 0, 1)])
    for each in given_steps:
        found, expected = single.step(*each), Operator.step(whole, *each)
        assert partial_bytes(found) == partial_bytes(expected)
    assert state_bytes(single) == state_bytes(whole)
    # There was more room for a moment, which has been given away.
    assert single._aggregate._room._last > single._aggregate._room.at.size == 1024


def ways(monkeypatch: pytest.MonkeyPatch, form: str, steps: list[Step]) -> list[bool]:
    """Of each step whether it was one compiled call."""
    operator, found = new(form), []
    for given_step in arguments(operator, steps):
        generic: list[int] = []
        with monkeypatch.context() as patch:
            patch.setattr(
                keyed.Operator,
                "step",
                lambda *all_of_it, was=Operator.step, seen=generic: (
                    seen.append(1),
                    was(*all_of_it),
                )[1],
            )
            operator.step(*given_step)
        found.append(not generic)
    return found


@pytest.mark.parametrize("form", COMPILED)
def test_most_rows_are_one_compiled_call(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ways(monkeypatch, form, long_stream(300, 10, -1))
    assert not found[0]  # nothing has room before the first row
    assert sum(found) > 280


@pytest.mark.parametrize("form", sorted(FORMS.keys() - set(COMPILED)))
def test_other_forms_go_the_way_of_batches(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any(ways(monkeypatch, form, long_stream(20, 3, -1)))


def test_a_number_that_its_column_cannot_hold_is_refused_before_anything_changes() -> None:
    single = new("summed")
    given_steps = arguments(single, [Step(1, 0, 1, 1)] * 3)
    single.step(*given_steps[0])
    before = state_bytes(single)
    at, input_index, weight, _, values, until = given_steps[1]
    with pytest.raises((OverflowError, ValueError)):
        single.step(at, input_index, weight, [2**63], values, until)
    assert state_bytes(single) == before


def test_a_step_can_be_taken_back() -> None:
    single, whole = new("summed"), new("summed")
    given_steps = arguments(single, long_stream(60, 4, -1))
    for each in given_steps[:-1]:
        single.step(*each)
        whole.step(*each)
    mark = single.mark()
    at, *rest, until = given_steps[-1]
    single.step(at, *rest, until + 50)
    mark.rewind()
    for input_index in (0, 1):
        assert single.rows(input_index).equals(whole.rows(input_index))
