"""Nodes as an Arrow table: granularity, start, group keys, and what is known of each measure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from windrow.history.cells.cell_store import empty_states
from windrow.history.groups import Groups
from windrow.history.nodes.state_columns import columns_of_states
from windrow.history.sketches.kinds import kinds_of_sketches
from windrow.history.sketches.sketch_levels import NodeSketches
from windrow.history.spec import GRANULARITY_COLUMN, START_COLUMN, HistorySpec
from windrow.history.state_kernels import START
from windrow.history.storage import Nodes
from windrow.schema import TIMESTAMP

__all__ = ["schema_of_nodes", "sketches_of_table", "table_of_nodes"]


def table_of_nodes(
    nodes: Nodes,
    spec: HistorySpec,
    groups: Groups,
    sketches: Mapping[tuple[int, int], NodeSketches],
) -> pa.Table:
    """One row for each node; sketches by code and start."""
    count = nodes.codes.size
    granularity_us = spec.granularities_us[nodes.level]
    keys = groups.table(nodes.codes)
    return pa.table(
        {
            GRANULARITY_COLUMN: pa.array(np.full(count, granularity_us)),
            START_COLUMN: pa.array(np.ascontiguousarray(nodes.whole[START])).cast(TIMESTAMP.arrow),
            **dict(zip(keys.column_names, keys.columns, strict=True)),
            **columns_of_states(spec, nodes.whole, nodes.real),
            **_sketch_columns(nodes, spec, sketches),
        }
    )


def sketches_of_table(spec: HistorySpec, table: pa.Table) -> list[NodeSketches]:
    """The sketches of each node."""
    kinds = kinds_of_sketches(spec.measures, spec.quantiles, spec.distincts)
    columns = [
        [
            kind.empty() if data is None else kind.from_bytes(data)
            for data in table.column(kind.label).to_pylist()
        ]
        for kind in kinds
    ]
    return [[column[row] for column in columns] for row in range(table.num_rows if kinds else 0)]


def _sketch_columns(
    nodes: Nodes, spec: HistorySpec, sketches: Mapping[tuple[int, int], NodeSketches]
) -> dict[str, pa.Array]:
    kinds = kinds_of_sketches(spec.measures, spec.quantiles, spec.distincts)
    if not kinds:
        return {}
    places = list(zip(nodes.codes.tolist(), nodes.whole[START].tolist(), strict=True))
    return {
        kind.label: pa.array(
            [kind.to_bytes(sketches[at][place]) if at in sketches else None for at in places],
            pa.binary(),
        )
        for place, kind in enumerate(kinds)
    }


def schema_of_nodes(spec: HistorySpec) -> pa.Schema:
    """The schema that every table of nodes has."""
    whole, real = empty_states(0, len(spec.measures))
    none = Nodes(0, np.empty(0, np.int64), whole, real)
    return table_of_nodes(none, spec, Groups(spec.keys), {}).schema
