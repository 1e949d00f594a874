"""Queries over acyclic joins, and a runner of the tree operator alone, without a shard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from unittest.mock import patch

from hypothesis import strategies as st

from support import runners
from support.join_texts import join_windows
from support.oracle import SumOverflowError
from support.runners import BEGINNING, Judge, Model
from support.streams import Action
from windrow.errors import DataError
from windrow.operators.operator import NeedsCellsError, NeedsPairsError
from windrow.operators.partial import Partial
from windrow.operators.tree.operator import TreeOperator
from windrow.plan.factorisation import factorisation
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import Preparer
from windrow.rows.prepared_rows import PreparedRows
from windrow.rows.shape import shape_of

EQUALITIES = (
    *(3 * ("{0}.k = {1}.k", "{0}.s = {1}.s", "{0}.o = {1}.o")),
    *("{0}.l = {1}.l", "{0}.d = {1}.d", "{0}.p = {1}.p", "{0}.k = {1}.l", "{0}.f = {1}.f"),
)
OF_ONE = (
    *("COUNT(*)", "COUNT({0}.d)", "SUM({0}.k)", "SUM({0}.l)", "SUM({0}.d)", "AVG({0}.p)"),
    *("MIN({0}.d)", "MAX({0}.d)", "MAX({0}.l)", "MIN({0}.p)", "MAX({0}.f)", "MIN({0}.ts)"),
    *("MAX({0}.o)", "COUNT(DISTINCT {0}.s)", "COUNT(DISTINCT {0}.d)", "COUNT(DISTINCT {0}.k)"),
    *("VAR_POP({0}.d)", "COUNT(DISTINCT {0}.ts)"),
)
OF_TWO = (
    *("SUM({0}.d * {1}.d)", "SUM({0}.k + {1}.l)", "AVG({0}.k * {1}.k)", "SUM({0}.l * {1}.l)"),
    *("SUM({0}.p * {1}.k)", "SUM({0}.p - {1}.p)", "AVG({0}.d + {1}.d)", "SUM({0}.f * {1}.d)"),
)
GROUPS = ("{0}.k", "{0}.s", "{0}.d", "{0}.o", "{0}.y", "{0}.k % 2")


def is_for_trees(plan: QueryPlan) -> bool:
    """Whether the tree operator is asked for the plan."""
    return shape_of(plan).mode is None and not isinstance(factorisation(plan), str)


class TreeShard:
    """The tree operator in the place of a shard; it may go on from its own rows at any time."""

    def __init__(self, plan: QueryPlan, grid_us: int = 1) -> None:
        self._plan, self._grid_us = plan, grid_us
        self._shape = shape_of(plan)
        self._operator = TreeOperator(plan, self._shape, grid_us)
        self._clock = BEGINNING

    def append(self, batches: Mapping[int, PreparedRows]) -> None:
        """What a shard does with rows."""
        for input_index, rows in batches.items():
            try:
                self._operator.append(input_index, rows)
            except NeedsCellsError:
                self._shape = replace(self._shape, is_folded=True)
                self.rebuild()
                self._operator.append(input_index, rows)

    def advance(self, batches: Mapping[int, PreparedRows], until: int) -> Partial:
        """What a shard does when the clock moves."""
        self.append(batches)
        self._clock = max(self._clock, until)
        return self._operator.run(self._clock)

    def rebuild(self) -> None:
        """Go on with a new operator, made from the rows of the old one."""
        operator = TreeOperator(self._plan, self._shape, self._grid_us)
        for input_index in range(len(self._plan.inputs)):
            rows, columns = (
                self._operator.rows(input_index),
                Preparer(self._plan, input_index).columns,
            )
            assert rows.schema == columns.schema
            operator.append(input_index, columns.rows(rows))
        operator.run(self._clock)
        assert operator.row_counts() == self._operator.row_counts()
        self._operator = operator


def agree(plan: QueryPlan, actions: Sequence[Action], rebuilds: frozenset[int]) -> None:
    """All that the tree operator gives is what the oracle says, or it asks for pairs."""
    judge, model = Judge(plan), Model()
    with patch.object(runners, "Shard", TreeShard):
        runner = runners.ShardRunner(plan)
    (shard,) = runner.shards
    assert isinstance(shard, TreeShard)
    since = BEGINNING
    try:
        for number, action in enumerate([*actions, None]):
            batches = {} if action is None else model.take(action)
            clock = model.clock(plan) if action is not None else model.last(plan)
            runner.step(batches, clock)
            if number in rebuilds:
                shard.rebuild()
            if number % 4 == 0 or action is None:
                publisher = runner.publisher
                given = (publisher.answers(), publisher.changes(), publisher.result())
                judge.check(model.rows(), since, clock, *given)
                since = clock
    except NeedsPairsError:
        assert any(aggregate.terms for aggregate in plan.aggregates), "only factors are refused"
    except DataError as refused:
        if refused.code not in ("WD302", "WD304"):
            raise
        if refused.code == "WD304":
            return  # the slow twin has NULL there
        try:
            judge.oracle.answers(model.rows(), judge.oracle.change_instants(model.rows(), clock))
        except SumOverflowError:
            return
        raise


@st.composite
def tree_queries(draw: st.DrawFn, least: int = 1, most: int = 4) -> str:
    """The text of an aggregate over an acyclic join whose groups are of one input."""
    streams = draw(st.lists(st.sampled_from("aabbc"), min_size=least, max_size=most))
    names = [f"{stream}{place}" for place, stream in enumerate(streams)]
    sources = [
        f"{stream} [{draw(join_windows)}] AS {name}"
        for stream, name in zip(streams, names, strict=True)
    ]
    equalities = _equalities(draw, names)
    home = draw(st.sampled_from(names))
    groups = draw(st.lists(st.sampled_from(GROUPS), max_size=2, unique=True))
    groups = [group.format(home) for group in groups]
    if equalities and not draw(st.integers(0, 3)):
        groups = [draw(st.sampled_from(equalities)).split(" = ")[0]]
    items = []
    for _ in range(draw(st.integers(1, 3))):
        if len(names) > 1 and not draw(st.integers(0, 2)):
            items.append(draw(st.sampled_from(OF_TWO)).format(*draw(st.permutations(names))))
        else:
            of = draw(st.sampled_from([home, draw(st.sampled_from(names))]))
            items.append(draw(st.sampled_from(OF_ONE)).format(of))
    shown = ", ".join(f"{item} AS r{i}" for i, item in enumerate([*groups, *items]))
    where = f" WHERE {' AND '.join(equalities)}" if equalities else ""
    tail = f" GROUP BY {', '.join(groups)}" if groups else ""
    return f"SELECT {shown} FROM {', '.join(sources)}{where}{tail}"


def _equalities(draw: st.DrawFn, names: list[str]) -> list[str]:
    """A star on one column, or a tree with any equality along its edges, perhaps without one."""
    if draw(st.booleans()):
        column = draw(st.sampled_from("kksod"))
        return [f"{names[0]}.{column} = {name}.{column}" for name in names[1:]]
    found = [
        draw(st.sampled_from(EQUALITIES)).format(draw(st.sampled_from(names[:i])), names[i])
        for i in range(1, len(names))
    ]
    return found if draw(st.integers(0, 5)) else found[1:]
