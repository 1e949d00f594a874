"""A history as tables and a header, for checkpoints: Arrow and JSON, nothing that can run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.errors import CheckpointError
from windrow.history.adaptive_tree import AdaptiveTree
from windrow.history.cells.arena import Arena, Longs
from windrow.history.cells.cell_store import CellStore
from windrow.history.cells.kernels import SIZE
from windrow.history.history import History
from windrow.history.leaves.row_store import RowStore
from windrow.history.nodes.state_columns import columns_of_states, states_of_columns
from windrow.history.past import Archive
from windrow.history.spec import START_COLUMN, HistorySpec
from windrow.history.state_kernels import START

__all__ = ["SavedHistory", "restore_history", "save_history"]

SAVED_VERSION = 1

_CODE, _SHAPE, _TIME, _REGION = "code", "shape", "time", "region"


@dataclass(frozen=True)
class SavedHistory:
    """What a checkpoint holds of a history: a header that is JSON, and tables by name."""

    header: dict[str, Any]
    tables: dict[str, pa.Table]


def save_history(history: History) -> SavedHistory:
    """The whole state; codes of groups are renumbered."""
    tree = _tree_of(history)
    held = history.groups.held()
    number = np.zeros(int(held.max(initial=0)) + 1, np.int64)
    number[held] = np.arange(held.size)
    tables = {"groups": history.groups.table(held), "rows": _rows_table(tree.rows, number)}
    for region, store in enumerate(tree.stores):
        tables[f"cells_{region}"] = _cells_table(store, number, history.spec)
    if history.sketches.kinds:
        tables["sketches"] = _sketch_table(history, number)
    past = history.past
    header = {
        "version": SAVED_VERSION,
        "spec": _described(history.spec),
        "now_us": history.now_us,
        "horizons_us": list(tree.regions.horizons_us),
        "forgotten": [past.whole.tolist(), [row.hex() for row in past.real[:, 0].tolist()]],
    }
    return SavedHistory(header, tables)


def restore_history(
    spec: HistorySpec, saved: SavedHistory, archive: Archive | None = None
) -> History:
    """The history that was saved; one with another specification is refused."""
    header, tables = saved.header, saved.tables
    if header.get("version") != SAVED_VERSION:
        raise CheckpointError(
            "WC302",
            f"a saved history of format {header.get('version')} cannot be read",
            hint="continue with the version that saved it, or start from a new checkpoint",
        )
    if header["spec"] != _described(spec):
        raise CheckpointError(
            "WC303",
            "the saved history has other levels, measures or keys",
            hint="start from a new checkpoint, or declare the history as before",
        )
    history = History(spec, archive=archive)
    tree = _tree_of(history)
    codes = np.zeros(1, np.int64)
    if spec.keys:
        named = {name: tables["groups"].column(name) for name in tables["groups"].column_names}
        taken = history.groups.codes(named)
        codes = np.empty(0, np.int64) if taken is None else taken.astype(np.int64)
    _restore_rows(tree.rows, tables["rows"], codes, len(spec.measures))
    for region, store in enumerate(tree.stores):
        _restore_cells(store, tables[f"cells_{region}"], codes, spec)
    history.now_us = header["now_us"]
    tree.regions.horizons_us[:] = header["horizons_us"]
    whole, real = header["forgotten"]
    history.past.whole[:] = np.array(whole, np.int64)
    history.past.real[:, 0] = [float.fromhex(value) for value in real]
    if history.sketches.kinds:
        _restore_sketches(history, tables["sketches"], codes)
    return history


def _tree_of(history: History) -> AdaptiveTree:
    if not isinstance(history.storage, AdaptiveTree):
        raise CheckpointError(
            "WC304",
            "only the adaptive tree can be saved, not other storages",
            hint="create the history with the default storage",
        )
    return history.storage


def _described(spec: HistorySpec) -> dict[str, Any]:
    """A specification as JSON: lists for tuples."""

    def listed(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: listed(each) for name, each in value.items()}
        return [listed(each) for each in value] if isinstance(value, (list, tuple)) else value

    described: dict[str, Any] = listed(asdict(spec))
    return described


def _places(arena: Arena, number: Longs) -> tuple[Longs, Longs]:
    """Where all rows of an arena are, series by series, and the numbers of their groups."""
    sizes = arena.series[SIZE]
    owners = np.repeat(np.arange(sizes.size), sizes)
    return arena.places(sizes), number[owners] if owners.size else owners


def _cells_table(store: CellStore, number: Longs, spec: HistorySpec) -> pa.Table:
    places, groups = _places(store.arena, number)
    whole, real = store.whole[:, places], store.real[:, places]
    columns = {_CODE: pa.array(groups), _SHAPE: pa.array(store.shape[places])}
    columns[START_COLUMN] = pa.array(np.ascontiguousarray(whole[START]))
    return pa.table({**columns, **columns_of_states(spec, whole, real)})


def _restore_cells(store: CellStore, table: pa.Table, codes: Longs, spec: HistorySpec) -> None:
    if table.num_rows == 0:
        return
    order, owners, ends = _series_of(table, codes)
    whole, real = states_of_columns(spec, table)
    shape = table.column(_SHAPE).to_numpy()
    store.replace_tails(
        owners, np.zeros_like(owners), ends, whole[:, order], real[:, order], shape[order]
    )


def _series_of(table: pa.Table, codes: Longs) -> tuple[Longs, Longs, Longs]:
    """The order by new codes, these codes, and where the rows of each begin."""
    owners = codes[table.column(_CODE).to_numpy()]
    order = np.argsort(owners, kind="stable")
    ends = np.flatnonzero(np.diff(owners[order], prepend=-1, append=-1))
    return order, owners[order][ends[:-1]], ends


def _rows_table(rows: RowStore, number: Longs) -> pa.Table:
    places, groups = _places(rows.arena, number)
    columns = {_CODE: pa.array(groups), _TIME: pa.array(rows.times[places])}
    for measure, words in enumerate(rows.words):
        columns[f"word_{measure}"] = pa.array(words[places])
    for measure, valid in enumerate(rows.valid if rows.has_flags else ()):
        columns[f"valid_{measure}"] = pa.array(valid[places])
    return pa.table(columns)


def _restore_rows(rows: RowStore, table: pa.Table, codes: Longs, measures: int) -> None:
    has_flags = "valid_0" in table.column_names
    if has_flags:
        rows.keep_flags()
    if table.num_rows == 0:
        return
    order, owners, ends = _series_of(table, codes)
    words = np.empty((measures, order.size), np.int64)
    valid = np.empty((measures, order.size if has_flags else 0), np.uint8)
    for measure in range(measures):
        words[measure] = table.column(f"word_{measure}").to_numpy()[order]
        if has_flags:
            valid[measure] = table.column(f"valid_{measure}").to_numpy()[order]
    times = table.column(_TIME).to_numpy()[order]
    rows.replace_tails(owners, np.zeros_like(owners), ends, times, words, valid)


def _sketch_table(history: History, number: Longs) -> pa.Table:
    """A row for each node with sketches; region -1: what was forgotten."""
    kinds = history.sketches.kinds
    found = [(-1, 0, 0, history.sketches.forgotten)]
    for region, groups in enumerate(history.sketches.nodes):
        for code, nodes in groups.items():
            found += [(region, int(number[code]), start, each) for start, each in nodes.items()]
    columns: dict[str, pa.Array] = {
        name: pa.array([row[place] for row in found], pa.int64())
        for place, name in enumerate((_REGION, _CODE, START_COLUMN))
    }
    for place, kind in enumerate(kinds):
        columns[kind.label] = pa.array([kind.to_bytes(row[3][place]) for row in found], pa.binary())
    return pa.table(columns)


def _restore_sketches(history: History, table: pa.Table, codes: Longs) -> None:
    kinds = history.sketches.kinds
    for row in table.to_pylist():
        sketches = [kind.from_bytes(row[kind.label]) for kind in kinds]
        if row[_REGION] < 0:
            history.sketches.forgotten = sketches
            continue
        code = int(codes[row[_CODE]])
        nodes = history.sketches.nodes[row[_REGION]].setdefault(code, {})
        nodes[row[START_COLUMN]] = sketches
    history.sketches.follow()
