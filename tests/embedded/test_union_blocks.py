"""GROUP BY over a UNION ALL of windows is one block, and gives what DuckDB says."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from support.runners import exactly
from support.sessions import give, session_of
from support.streams import CATALOG, Action
from support.tree_rows import other_cuts, row_by_row, tree_actions
from support.tree_runs import Told, assert_tree_is_right, session_run, shard_run, tree_plan_of
from windrow.output.publish import Publisher
from windrow.plan.relations.algebra import walk_relations
from windrow.plan.relations.planner import plan_query
from windrow.plan.relations.tree_plan import TreePlan
from windrow.plan.relations.union_blocks import UnionBlock
from windrow.sql import parse_query

U = "(SELECT {0} FROM a [3 SECONDS] UNION ALL SELECT {1} FROM b [2 SECONDS]{2}) AS u"
KL = U.format("k, l", "k, l", " WHERE l > 1")
# Published as they are; the others are a leaf of a tree.
WHOLE = [
    f"SELECT k, COUNT(*) AS n, SUM(l) AS t FROM {KL} GROUP BY k",
    f"SELECT k, COUNT(*) AS n, SUM(l) AS t FROM {KL} GROUP BY k EVERY (1 SECOND)",
    f"SELECT COUNT(*) AS n, MIN(l) AS m, MAX(k) AS x FROM {KL}",
    f"SELECT k + 1 AS j, AVG(l) * 2 AS m FROM {KL} GROUP BY k HAVING COUNT(*) > 1",
    f"SELECT s, SUM(d) AS t, AVG(d) AS m, VAR_POP(l) AS v FROM"
    f" {U.format('s, d, l', 's, d, l', '')} GROUP BY s",
    "SELECT k, COUNT(l) AS n FROM (SELECT k, l FROM a [ROWS 3] UNION ALL SELECT l, k FROM a"
    " [2 SECONDS] UNION ALL SELECT k, k FROM c [RANGE 2 SECONDS SLIDE 1 SECOND]) AS u GROUP BY k",
]
PARTS = [
    f"SELECT MAX(n) AS n FROM (SELECT k, COUNT(*) AS n FROM {KL} GROUP BY k) AS q",
    f"SELECT c.k, q.t FROM c [2 SECONDS] LEFT JOIN (SELECT k, SUM(l) AS t FROM {KL} GROUP BY k)"
    " AS q ON q.k = c.k",
    f"SELECT k, COUNT(*) AS n FROM {KL} GROUP BY k ORDER BY n DESC, k LIMIT 2",
]
# States of the parts would not add up: a constant, different values, one argument in one part.
OTHERS = [
    f"SELECT k, COUNT(*) AS n FROM {U.format('1 AS k', 'k', '')} GROUP BY k",
    f"SELECT k, COUNT(DISTINCT l) AS n FROM {KL} GROUP BY k",
    f"SELECT k, SUM(x) AS x, AVG(y) AS y FROM"
    f" {U.format('k, l AS x, l AS y', 'k, l, k', '')} GROUP BY k",
]


def all_of(told: Told) -> list[list[str]]:
    answers, changes, result = map(exactly, told)
    return [sorted(answers), sorted(changes), sorted(result)]


@pytest.mark.parametrize("text", [*WHOLE, *PARTS, *OTHERS])
def test_it_is_right_however_rows_come(text: str) -> None:
    for seed in (1, 2):
        actions = tree_actions(seed, rows=24)
        told = session_run(text, actions)
        assert_tree_is_right(text, actions, told)
        assert all_of(session_run(text, row_by_row(actions))) == all_of(told)
        assert all_of(session_run(text, other_cuts(actions, seed))) == all_of(told)


@pytest.mark.parametrize("text", [WHOLE[1], *PARTS])
def test_it_goes_on_after_a_restart(text: str) -> None:
    actions = tree_actions(3, rows=24)
    some = frozenset(random.Random(3).sample(range(len(actions)), 4))
    assert all_of(shard_run(text, actions, some)) == all_of(shard_run(text, actions))


@pytest.mark.parametrize("text", WHOLE)
def test_a_whole_query_is_published_once(text: str) -> None:
    plan = plan_query(parse_query(text), CATALOG)
    assert isinstance(plan, TreePlan)
    assert plan.combined is not None


@pytest.mark.parametrize("text", [*PARTS, *OTHERS])
def test_what_is_a_block_is_one(text: str) -> None:
    plan = tree_plan_of(text)
    found = [node for node in walk_relations(plan.relation) if isinstance(node, UnionBlock)]
    assert len(found) == (text in PARTS)
    assert plan.combined is None


@pytest.mark.parametrize("text", [WHOLE[0], WHOLE[1], WHOLE[2], PARTS[0]])
def test_a_step_that_is_broken_off_leaves_no_trace(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The states of the parts go back with what was published of them."""
    actions = tree_actions(4, rows=24)
    wanted = all_of(session_run(text, actions))
    record, calls = Publisher._record, []

    def breaking(publisher: Publisher, updates: object) -> None:
        calls.append(updates)
        if len(calls) % 3 == 0:
            raise MemoryError
        record(publisher, updates)  # type: ignore[arg-type]

    monkeypatch.setattr(Publisher, "_record", breaking)
    assert all_of(_patiently(text, actions)) == wanted
    assert len(calls) > 3


def _patiently(text: str, actions: Sequence[Action]) -> Told:
    """All that a query gives, where a step that is broken off is completed by the next call."""
    session = session_of(memory="1 GB")
    query = session.query(text)
    for action in actions:
        _until_made(lambda action=action: give(session, action), query.result)
    _until_made(session.finish, query.result)
    return query.answers(), query.changes(), query.result()


def _until_made(first: Callable[[], object], again: Callable[[], object]) -> None:
    call = first
    while True:
        try:
            call()
        except MemoryError:
            call = again
        else:
            return
