"""A history that is saved and restored goes on as if nothing had been."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.rivals.full_precomputation import FullPrecomputation
from support.history_comparison import AGGREGATES, asked, check
from support.past_rows import MEASURES, specs, steps, take
from windrow.errors import CheckpointError
from windrow.history.adaptive_tree import AdaptiveTree
from windrow.history.history import History
from windrow.history.saved_state import SavedHistory, restore_history, save_history
from windrow.history.spec import HistorySpec, levels_of


def through_bytes(saved: SavedHistory) -> SavedHistory:
    tables = {}
    for name, table in saved.tables.items():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        tables[name] = pa.ipc.open_stream(sink.getvalue()).read_all()
    return SavedHistory(json.loads(json.dumps(saved.header)), tables)


@given(st.data())
def test_restoring_does_not_show(data: st.DataObject) -> None:
    spec = data.draw(specs(grouped=data.draw(st.booleans())))
    given_steps = data.draw(steps())
    kept = History(spec)
    history = History(spec)
    rows = []
    for step in given_steps:
        rows += take(history, [step])
        take(kept, [step])
        if data.draw(st.booleans()):
            history = restore_history(spec, through_bytes(save_history(history)))
    since, until = data.draw(asked(given_steps))
    answer, unbroken = history.snapshot(since, until), kept.snapshot(since, until)
    check(answer, rows, is_one=not spec.keys)
    assert answer.is_exact == unbroken.is_exact
    tables = [each.table(AGGREGATES) for each in (answer, unbroken)]
    if spec.keys:
        tables = [table.sort_by("k") for table in tables]
    # Bit by bit: a NaN is like itself.
    assert repr(tables[0].to_pylist()) == repr(tables[1].to_pylist())
    assert leaves(history) == leaves(kept)


def leaves(history: History) -> list[int]:
    assert isinstance(history.storage, AdaptiveTree)
    return [store.arena.size for store in history.storage.stores]


def test_another_specification_is_refused() -> None:
    spec = HistorySpec(levels_of([(1, None), (4, None)]), MEASURES)
    saved = save_history(History(spec))
    with pytest.raises(CheckpointError, match="WC303"):
        restore_history(HistorySpec(levels_of([(1, None), (8, None)]), MEASURES), saved)
    with pytest.raises(CheckpointError, match="WC302"):
        restore_history(spec, SavedHistory({**saved.header, "version": 0}, saved.tables))


def test_rivals_are_not_saved() -> None:
    spec = HistorySpec(levels_of([(1, None)]), MEASURES)
    with pytest.raises(CheckpointError, match="WC304"):
        save_history(History(spec, FullPrecomputation))


def test_late_rows_are_refused() -> None:
    history = History(HistorySpec(levels_of([(1, None)]), ()))
    history.advance(10)
    with pytest.raises(Exception, match="WD601"):
        history.insert(np.array([10]), {})
    history.insert(np.array([11]), {})
    assert history.snapshot(0, 20).bounds("count").value == 1
