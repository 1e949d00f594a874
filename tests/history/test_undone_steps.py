"""A step that is taken back leaves no trace: what is saved afterwards is what was saved before.

Steps of any number of inserts and advances are taken back, and then made for good.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from support.past_rows import specs, steps, take
from windrow.history.history import History
from windrow.history.saved_state import save_history


def saved(history: History) -> Any:
    """All that a checkpoint holds; the order of groups is that of their codes, which may differ."""
    whole = save_history(history)
    names = [tuple(row.values()) for row in whole.tables["groups"].to_pylist()] or [()]
    tables = {}
    for name, table in whole.tables.items():
        if name != "groups":
            rows = ({**row, "code": names[row["code"]]} for row in table.to_pylist())
            tables[name] = sorted(map(repr, rows))
    return whole.header, sorted(map(repr, names)), tables


@given(st.data())
def test_a_step_that_is_taken_back_leaves_no_trace(data: st.DataObject) -> None:
    spec = data.draw(specs(grouped=data.draw(st.booleans())))
    history, twin = History(spec), History(spec)
    made = data.draw(steps())
    cuts = sorted(data.draw(st.sets(st.integers(0, len(made)), max_size=4)) | {0, len(made)})
    for first, end in pairwise(cuts):
        before = saved(history)
        history.begin_step()
        take(history, made[first:end])
        history.undo_step()
        assert saved(history) == before
        history.begin_step()
        take(history, made[first:end])
        history.keep_step()
        take(twin, made[first:end])
        found, wanted = saved(history), saved(twin)
        for header, *_ in (found, wanted):
            # Nodes are added up in the order of codes: sums of doubles may be rounded otherwise.
            header["forgotten"] = header["forgotten"][0]
        assert found == wanted
    assert history.groups.held().size == twin.groups.held().size
