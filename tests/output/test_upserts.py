"""Upserts and deletes, applied to a dictionary, make it equal to the result."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from support.oracle import rows_of
from support.runners import Model, ShardRunner
from support.streams import Action, joins, plan_of, scenarios, single_queries
from windrow.errors import BindingError, DataError
from windrow.output.upserts import check_unique, is_key_certain, net_upserts, upsert_key
from windrow.plan.model import QueryPlan

GROUPED = plan_of("SELECT a.k AS key, a.s AS s, COUNT(*) AS n FROM a [1 MINUTE] GROUP BY a.k, a.s")
SELECT = plan_of("SELECT a.k AS k, a.s AS s FROM a [1 MINUTE]")
DISTINCTS = [
    "SELECT DISTINCT a.s AS s, a.d AS d FROM a [2 SECONDS]",
    "SELECT DISTINCT a.s AS s, b.k AS k FROM a [3 SECONDS], b [2 SECONDS] WHERE a.k = b.k",
]


@given(
    single_queries() | joins() | st.sampled_from(DISTINCTS),
    scenarios(),
    st.frozensets(st.integers(0, 12)),
)
def test_a_dictionary_equals_the_result(
    text: str, actions: list[Action], reads: frozenset[int]
) -> None:
    plan = plan_of(text)
    try:
        key = upsert_key(plan, None)
    except BindingError:
        assume(False)
    assert is_key_certain(plan, key)
    runner, model = ShardRunner(plan), Model()
    elsewhere: dict[str, str] = {}
    try:
        for number, action in enumerate([*actions, None]):
            batches = {} if action is None else model.take(action)
            clock = model.last(plan) if action is None else model.clock(plan)
            runner.step(batches, clock)
            if number in reads or action is None:
                put(elsewhere, key, *net_upserts(runner.publisher.changes(), key))
                check(elsewhere, plan, runner, key)
    except DataError as refused:
        if refused.code not in ("WD302", "WD304"):
            raise


def put(
    elsewhere: dict[str, str], key: tuple[str, ...], upserts: pa.Table, deletes: pa.Table
) -> None:
    for row in deletes.to_pylist():
        del elsewhere[str([row[name] for name in key])]
    for row in upserts.to_pylist():
        elsewhere[str([row[name] for name in key])] = str(row)


def check(
    elsewhere: dict[str, str], plan: QueryPlan, runner: ShardRunner, key: tuple[str, ...]
) -> None:
    result = runner.publisher.result()
    check_unique(result, key)
    # Before the first instant an ungrouped aggregate has a result but no change.
    if elsewhere or plan.group_by or plan.kind == "select":
        assert sorted(elsewhere.values()) == sorted(str(row) for row in result.to_pylist())


def test_the_key_of_a_query() -> None:
    assert upsert_key(GROUPED, None) == ("key", "s")
    assert upsert_key(GROUPED, ["n"]) == ("n",)
    assert is_key_certain(GROUPED, ["key", "s", "n"])
    assert not is_key_certain(GROUPED, ["key"])
    constant = plan_of("SELECT a.k AS k, COUNT(*) AS n FROM a [1 MINUTE] GROUP BY a.k, 'x'")
    assert upsert_key(constant, None) == ("k",)
    assert upsert_key(plan_of("SELECT COUNT(*) AS n FROM a [1 MINUTE]"), None) == ()


@pytest.mark.parametrize(
    ("plan", "key", "code"),
    [
        (SELECT, None, "WB423"),
        (plan_of("SELECT COUNT(*) AS n FROM a [1 MINUTE] GROUP BY a.k"), None, "WB423"),
        (SELECT, ["room"], "WB424"),
    ],
)
def test_no_key(plan: QueryPlan, key: list[str] | None, code: str) -> None:
    with pytest.raises(BindingError) as caught:
        upsert_key(plan, key)
    assert caught.value.code == code


def test_one_row_takes_the_place_of_another() -> None:
    # The row that comes sorts before the one that goes.
    changes = pa.table({"at": [1, 1], "change": [1, -1], "k": [1, 1], "s": ["a", "b"]})
    upserts, deletes = net_upserts(changes, ["k"])
    assert rows_of(upserts) == [(1, "a")]
    assert deletes.num_rows == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"at": [1, 1], "change": [1, 1], "k": [1, 1], "s": ["a", "b"]},
        {"at": [1, 1], "change": [1, 1], "k": [1, 1], "s": ["a", "a"]},
    ],
)
def test_two_rows_of_one_key(changes: dict[str, list[object]]) -> None:
    with pytest.raises(DataError) as caught:
        net_upserts(pa.table(changes), ["k"])
    assert caught.value.code == "WD411"
