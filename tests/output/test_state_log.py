"""Rows that are made of states when they are read are those that were made at once."""

from __future__ import annotations

from unittest.mock import PropertyMock, patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.runners import outcome
from support.streams import Action, plan_of, scenarios
from windrow.operators.keyed.factorised import FactorisedAggregate
from windrow.output import group_feed
from windrow.output.result_rows import ResultRows

WINDOWS = "a [2 SECONDS], b [3 SECONDS]"
TEXTS = (
    "SELECT k, s, AVG(l) AS m, COUNT(*) AS n FROM a [2 SECONDS] GROUP BY k, s",
    "SELECT SUM(d) AS t, d, COUNT(d) AS n FROM a [2 SECONDS] GROUP BY d EVERY (1 SECOND)",
    "SELECT p, SUM(p) AS t, MAX(l) AS m FROM a [2 SECONDS] GROUP BY p",
    f"SELECT a.k AS k, SUM(b.l) AS t, SUM(a.l) AS u FROM {WINDOWS} WHERE a.k = b.k GROUP BY a.k",
    f"SELECT b.k AS k, COUNT(*) AS n FROM {WINDOWS} WHERE a.k = b.k GROUP BY b.k EVERY 1 SECOND",
)


@pytest.mark.parametrize("text", TEXTS)
@given(
    actions=scenarios(),
    reads=st.frozensets(st.integers(0, 8)),
    restarts=st.frozensets(st.integers(0, 8), max_size=2),
    is_sparse=st.booleans(),
)
def test_rows_made_late_are_those_made_at_once(
    text: str, actions: list[Action], reads: frozenset[int], restarts: frozenset[int],
    is_sparse: bool,
) -> None:  # fmt: skip
    plan = plan_of(text)
    how = {"reads": reads, "restarts": restarts}
    with patch.object(group_feed, "SPARSE", 0 if is_sparse else group_feed.SPARSE):
        late = outcome(plan, actions, **how)
    with (
        patch.object(ResultRows, "is_plain", PropertyMock(return_value=False)),
        patch.object(FactorisedAggregate, "_plain_windows", return_value=None),
    ):
        assert outcome(plan, actions, **how) == late
