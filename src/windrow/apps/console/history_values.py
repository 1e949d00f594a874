"""Histories as values for JSON: what they keep, since when, and in how many bytes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from windrow.apps.console.json_rows import plain_columns, plain_rows
from windrow.apps.console.refusals import no_such_history
from windrow.apps.console.registry import Registry

__all__ = ["histories_of", "series_values", "tree_values"]


def histories_of(registry: Registry) -> list[dict[str, Any]]:
    """All histories of a session."""
    with registry.runner.lock:
        table, schemas = registry.table("histories"), registry.runner.session.past.schemas
    found = []
    for values in plain_rows(table):
        row = dict(zip(table.column_names, values, strict=True))
        levels = schemas[row["stream"]].levels
        found.append(
            {
                "stream": row["stream"],
                "measures": row["measures"],
                "by": row["keys"],
                "levels": [{"grain_us": grain, "kept_us": kept} for grain, kept in levels],
                "first_us": row["known_from"],
                "last_us": row["known_to"],
                "rows": row["rows"],
                "bytes": row["bytes"],
            }
        )
    return found


def series_values(
    registry: Registry,
    stream: str,
    measure: str | None,
    interval: tuple[int | None, int | None],
    points: int,
    group: list[str],
) -> dict[str, Any]:
    """A history as columns of a chart."""
    _check(registry, stream)
    if not measure:
        measures = registry.runner.session.past.schemas[stream].measures
        measure = measures[0].name if measures else None
    with registry.runner.lock:
        registry.table("histories")  # rows that were pushed one by one are in it from now on
        table = registry.runner.session.past.series(stream, measure, interval, points, group)
    columns = plain_columns(table)
    # The newest interval is the finest.
    grain_us = columns["to_us"][-1] - columns["from_us"][-1] if table.num_rows else None
    columns["t_us"] = columns.pop("from_us")
    return {"stream": stream, "measure": measure, "grain_us": grain_us, **columns}


def tree_values(registry: Registry, stream: str, limit: int, group: list[str]) -> dict[str, Any]:
    """A history as levels of nodes; of too many the newest are shown."""
    _check(registry, stream)
    with registry.runner.lock:
        registry.table("histories")
        table = registry.runner.session.past.tree(stream, group)
        levels = registry.runner.session.past.schemas[stream].levels
    shown = table
    if table.num_rows > limit:
        order = pc.sort_indices(table, [("start_us", "descending"), ("level", "descending")])
        shown = table.take(order.slice(0, limit).sort())
    found = []
    for level, (grain_us, kept_us) in enumerate(levels):
        nodes = shown.filter(pc.equal(shown["level"], level))
        found.append({"grain_us": grain_us, "kept_us": kept_us, "nodes": _nodes(nodes, grain_us)})
    return {"stream": stream, "levels": found, "truncated": table.num_rows > limit}


def _nodes(table: pa.Table, grain_us: int) -> list[dict[str, Any]]:
    columns = (table[name].to_pylist() for name in ("start_us", "rows", "is_split"))
    return [
        {"from_us": start_us, "to_us": start_us + grain_us, "count": rows, "split": is_split}
        for start_us, rows, is_split in zip(*columns, strict=True)
    ]


def _check(registry: Registry, stream: str) -> None:
    session = registry.runner.session
    if stream not in session.past.schemas:
        raise no_such_history(stream, list(session.past.schemas))
