"""Rows that hold from one of their times to another."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from support.relation_changes import Change, Held, held_at, in_columns, relation
from windrow.operators.relations.changes import Changes
from windrow.operators.relations.valid_rows import ValidRowsOperator
from windrow.operators.relations.waiting_changes import WaitingChanges
from windrow.plan.relations.algebra import ValidRows

ROWS = relation("t", "since timestamp, until timestamp, k int")
SINCE, UNTIL, _ = (field.ref for field in ROWS.fields)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST = 40


def instant(us: int | None) -> datetime | None:
    return None if us is None else EPOCH + timedelta(microseconds=us)


MOMENTS = st.one_of(st.none(), st.integers(-3, LAST + 3)).map(instant)
POOL = st.lists(st.tuples(MOMENTS, MOMENTS, st.integers(0, 1)), min_size=1, max_size=5)


@st.composite
def coming_and_going(draw: st.DrawFn) -> list[Change]:
    """Rows that enter, and later leave before or after they have held."""
    pool, out, held = draw(POOL), list[Change](), Counter[Any]()
    for at in sorted(draw(st.sets(st.integers(0, LAST), max_size=10))):
        for row in draw(st.lists(st.sampled_from(pool), max_size=4)):
            leaves = held[row] > 0 and draw(st.booleans())
            held[row] += -1 if leaves else 1
            out.append(Change(at, -1 if leaves else 1, row))
    return out


def holding(changes: list[Change], at: int, node: ValidRows) -> Held:
    """The slow twin: every row that is there is asked whether it holds now."""
    now = instant(at)
    assert now is not None
    kept: Held = Counter()
    for row, count in held_at(changes, at).items():
        bounds = [row[0]] * bool(node.since), [row[1]] * bool(node.until)
        begun = all(each is not None and each <= now for each in bounds[0])
        if begun and all(each is not None and now < each for each in bounds[1]):
            kept[row] += count
    return +kept


def followed(node: ValidRows, changes: list[Change], cuts: list[int]) -> list[Held]:
    """What the changes of the operator add up to at each instant."""
    operator = ValidRowsOperator(node)
    found: list[tuple[int, int, tuple[Any, ...]]] = []
    before = -10
    for until in [*cuts, LAST + 10]:
        own = [change for change in changes if before < change.at <= until]
        given_now = operator.advance([in_columns(own, ROWS)], until)
        assert np.all(np.diff(given_now.at) >= 0)
        rows = zip(*(column.to_pylist() for column in given_now.columns), strict=True)
        steps = zip(given_now.at.tolist(), given_now.weight.tolist(), rows, strict=True)
        found += list(steps)
        before = until
    out = []
    for at in range(LAST + 11):
        held: Held = Counter()
        for when, weight, row in found:
            held[row] += weight if when <= at else 0
        out.append(Counter({row: count for row, count in held.items() if count}))
    return out


@given(coming_and_going(), st.sampled_from(["both", "since", "until"]), st.data())
def test_a_row_holds_between_its_times(
    changes: list[Change], kind: str, data: st.DataObject
) -> None:
    node = ValidRows(ROWS, (SINCE,) if kind != "until" else (), (UNTIL,) if kind != "since" else ())
    cuts = sorted(data.draw(st.sets(st.integers(0, LAST), max_size=5)))
    expected = [holding(changes, at, node) for at in range(LAST + 11)]
    assert followed(node, changes, cuts) == expected


@given(coming_and_going())
def test_on_a_grid_rows_come_and_go_at_its_multiples(changes: list[Change]) -> None:
    on_grid = [change._replace(at=-(-change.at // 5) * 5) for change in changes]
    found = followed(ValidRows(ROWS, (SINCE,), (UNTIL,), grid_us=5), on_grid, [])
    for at in range(0, LAST + 11, 5):
        assert found[at] == holding(on_grid, at, ValidRows(ROWS, (SINCE,), (UNTIL,)))


def test_what_has_come_and_gone_is_forgotten() -> None:
    waiting = WaitingChanges([pa.int64()])
    for begin in range(0, 1_000, 10):
        at = np.arange(begin + 5, begin + 15)
        waiting.add(Changes(at, np.ones(10, np.int64), (pa.array(at),)))
        assert waiting.due(begin + 9).at.max() <= begin + 9
        assert waiting.size <= 20
    assert waiting.due(2_000).size
    assert (waiting.size, waiting.nbytes) == (0, 0)
