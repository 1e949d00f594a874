"""Nodes as an Arrow table: granularity, start, group keys, and what is known of each measure."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.history.cells.cell_store import empty_states
from windrow.history.groups import Groups
from windrow.history.nodes.state_columns import columns_of_states
from windrow.history.spec import GRANULARITY_COLUMN, START_COLUMN, HistorySpec
from windrow.history.states.kernels import START
from windrow.history.storage import Nodes
from windrow.schema import TIMESTAMP

__all__ = ["schema_of_nodes", "table_of_nodes"]


def table_of_nodes(nodes: Nodes, spec: HistorySpec, groups: Groups) -> pa.Table:
    """One row for each node."""
    count = nodes.codes.size
    granularity_us = spec.granularities_us[nodes.level]
    keys = groups.table(nodes.codes)
    return pa.table(
        {
            GRANULARITY_COLUMN: pa.array(np.full(count, granularity_us)),
            START_COLUMN: pa.array(np.ascontiguousarray(nodes.whole[START])).cast(TIMESTAMP.arrow),
            **dict(zip(keys.column_names, keys.columns, strict=True)),
            **columns_of_states(spec, nodes.whole, nodes.real),
        }
    )


def schema_of_nodes(spec: HistorySpec) -> pa.Schema:
    """The schema that every table of nodes has."""
    whole, real = empty_states(0, len(spec.measures))
    none = Nodes(0, np.empty(0, np.int64), whole, real)
    return table_of_nodes(none, spec, Groups(spec.keys)).schema
