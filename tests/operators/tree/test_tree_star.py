"""A star that is run straight from its windows gives what events through trees give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.runners import outcome
from support.streams import Action, plan_of, scenarios
from windrow.operators.tree.linear_tree import LinearTree
from windrow.operators.tree.operator import TreeOperator
from windrow.rows.prepare import Preparer
from windrow.rows.shape import shape_of
from windrow.windows.window import Window, WindowArrays

THREE = "FROM a [2 SECONDS], b [3 SECONDS], c [1 SECOND] WHERE a.k = b.k AND b.k = c.k"
PAIR = "FROM a [2 SECONDS], b [1 SECOND] WHERE a.k = b.k"
TEXTS = (
    f"SELECT COUNT(*) AS n, SUM(a.l) AS s {THREE}",
    f"SELECT SUM(b.l * c.l) AS s, SUM(a.l - c.k) AS t, COUNT(a.l) AS n, SUM(c.l) AS u {THREE}",
    f"SELECT b.k AS k, COUNT(*) AS n, SUM(a.l) AS s {THREE} GROUP BY b.k",
    f"SELECT b.k AS k, COUNT(*) AS n, SUM(a.l) AS s {THREE} GROUP BY b.k EVERY (1 SECOND)",
    f"SELECT COUNT(*) AS n, SUM(c.k) AS s {THREE} EVERY (1 SECOND)",
    f"SELECT SUM(a.k * b.k) AS s, COUNT(*) AS n {PAIR}",
    "SELECT SUM(a.k * b.k) AS s FROM a [2 SECONDS], b [ROWS 3] WHERE a.k = b.k",
    f"SELECT MAX(a.ts) AS m {PAIR}",
    f"SELECT MIN(b.k) AS m, MAX(b.ts) AS n, SUM(b.k) AS s, COUNT(*) AS c {PAIR}",
    f"SELECT MAX(b.d) AS m, MIN(b.l) AS n, SUM(a.k * b.k) AS s {PAIR} EVERY (1 SECOND)",
    f"SELECT MAX(a.o) AS m {PAIR}",
)
READS = frozenset([3, 6])
plain_windows = LinearTree.plain_windows


@pytest.mark.parametrize("text", TEXTS)
@given(actions=scenarios(streams="abc"), is_plain=st.lists(st.booleans(), min_size=1, max_size=6))
def test_a_star_from_its_windows_has_the_same_answers(
    text: str, actions: list[Action], is_plain: list[bool]
) -> None:
    """Whether it is run so in all steps, in none, or in some."""
    plan = plan_of(text)
    with patch.object(LinearTree, "plain_windows", lambda _self, _windows: None):
        wanted = outcome(plan, actions, reads=READS)
    assert outcome(plan, actions, reads=READS) == wanted
    turns = cycle(is_plain)
    with patch.object(LinearTree, "plain_windows", lambda *given: at_times(turns, *given)):
        assert outcome(plan, actions, reads=READS) == wanted


def at_times(
    turns: Iterator[bool], tree: LinearTree, windows: Sequence[Window]
) -> list[WindowArrays] | None:
    return plain_windows(tree, windows) if next(turns) else None


@pytest.mark.parametrize("text", [TEXTS[0], TEXTS[3], TEXTS[5], TEXTS[7], TEXTS[8]])
def test_plain_windows_are_run_without_events(text: str) -> None:
    plan = plan_of(text)
    operator = TreeOperator(plan, shape_of(plan), 1)
    for input_index, entry in enumerate(plan.inputs):
        schema, rows = entry.stream.arrow, 500
        named = {"ts": np.arange(rows) * 10_000, "k": np.arange(rows) % 7, "l": np.arange(rows)}
        columns = [
            pa.array(named[field.name]).cast(field.type)
            if field.name in named
            else pa.nulls(rows, field.type)
            for field in schema
        ]
        batch = pa.RecordBatch.from_arrays(columns, schema=schema)
        operator.append(input_index, Preparer(plan, input_index).prepare(batch))
    with patch.object(LinearTree, "apply", side_effect=AssertionError):
        assert operator.run(4_000_000).size
