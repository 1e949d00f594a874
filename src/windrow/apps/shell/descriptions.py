r"""What there is: streams, tables, views, queries, histories for \d, one of them for \d NAME."""

from __future__ import annotations

import pyarrow as pa

from windrow.apps.shell.desk import Desk
from windrow.apps.shell.shown import show_rows, show_text
from windrow.apps.shell.workbench import Workbench
from windrow.connectors.contract import Source
from windrow.errors import BindingError
from windrow.event_time import END_OF_TIME, START_OF_TIME, show_span
from windrow.jobs.job import JobView
from windrow.plan.nearest import nearest
from windrow.table_schema import TableSchema

__all__ = ["describe", "describe_all"]


def describe_all(desk: Desk) -> None:
    """All streams, tables, views, queries and histories."""
    bench, screen = desk.bench, desk.screen
    with bench.lock:
        tables = {
            "stream": _streams(bench),
            "table": _tables(bench),
            "view": _views(bench),
            "query": _queries(bench),
            "history": _histories(bench, whole=screen.machine),
        }
    found = {kind: table for kind, table in tables.items() if table.num_rows}
    for kind, table in found.items():
        show_rows(screen, kind, table)
    if not found:
        screen.note("Nothing is declared yet: CREATE STREAM, \\load a script, or \\demo.")


def describe(desk: Desk, name: str) -> None:
    """The columns of a stream and its history, or of a view, or the text and plan of a query."""
    bench, screen = desk.bench, desk.screen
    if name in bench.outlets:
        outlet = bench.outlets[name]
        with bench.lock:
            plan = outlet.running.explain()
        show_text(screen, "plan", f"{outlet.query.text}\n\n{plan}", name)
        return
    if name in bench.job.catalog:
        schema = bench.job.catalog[name]
        show_rows(screen, "column", _columns(bench, schema.name), stream=schema.name)
        return
    table = bench.job.catalog.table(name)
    if table is not None:
        show_rows(screen, "column", _table_columns(table), table=table.name)
        return
    view = bench.job.catalog.view(name)
    if view is not None:
        show_rows(screen, "column", _view_columns(bench.job.views[view.name]), view=view.name)
        return
    names = [*bench.outlets, *bench.job.catalog, *bench.job.tables, *bench.job.views]
    guess = nearest(name, names)
    hint = f"did you mean {guess}?" if guess else "\\d lists everything"
    raise BindingError("WB525", f"there is no stream, table, view or query {name!r}", hint=hint)


def _streams(bench: Workbench) -> pa.Table:
    ledger = {row["stream"]: row for row in bench.session.ledger().to_pylist()}
    streams = list(bench.job.streams.values())
    rows = [ledger.get(each.schema.name, {}) for each in streams]
    return pa.table(
        {
            "stream": [each.schema.name for each in streams],
            "columns": [", ".join(c.name for c in each.schema.columns) for each in streams],
            "from": pa.array([_source(each.source) for each in streams], pa.string()),
            "rows": pa.array([row.get("rows_in", 0) for row in rows], pa.int64()),
            "waiting": pa.array([row.get("waiting", 0) for row in rows], pa.int64()),
        }
    )


def _tables(bench: Workbench) -> pa.Table:
    held = {row["table"]: row for row in bench.session.tables().to_pylist()}
    tables = list(bench.job.tables.values())
    rows = [held.get(each.schema.name, {}) for each in tables]
    texts = {
        "table": [each.schema.name for each in tables],
        "columns": [", ".join(c.name for c in each.schema.columns) for each in tables],
        "key": [", ".join(each.schema.key) for each in tables],
        "from": ["" if each.source is None else each.source.shown for each in tables],
    }
    numbers = {name: [row.get(name, 0) for row in rows] for name in ("rows", "bytes")}
    return pa.table(
        {
            **{name: pa.array(values, pa.string()) for name, values in texts.items()},
            **{name: pa.array(values, pa.int64()) for name, values in numbers.items()},
        }
    )


def _table_columns(table: TableSchema) -> pa.Table:
    roles = {table.time: "time", **dict.fromkeys(table.key, "key")}
    return pa.table(
        {
            "column": [column.name for column in table.columns],
            "type": [str(column.type) for column in table.columns],
            "role": [roles.get(column.name, "") for column in table.columns],
        }
    )


def _views(bench: Workbench) -> pa.Table:
    views = list(bench.job.views.values())
    return pa.table(
        {
            "view": pa.array([each.name for each in views], pa.string()),
            "columns": pa.array(
                [", ".join(field.name for field in each.plan.outputs) for each in views],
                pa.string(),
            ),
            "reads": pa.array([", ".join(each.plan.streams) for each in views], pa.string()),
        }
    )


def _view_columns(view: JobView) -> pa.Table:
    return pa.table(
        {
            "column": [field.name for field in view.plan.outputs],
            "type": [str(field.type) for field in view.plan.outputs],
        }
    )


def _source(source: Source | None) -> str:
    return "\\push" if source is None else source.shown


def _queries(bench: Workbench) -> pa.Table:
    standings = bench.standings()
    served = bench.session.queries().select(["query", "algorithm"]).to_pylist()
    algorithms = {row["query"]: row["algorithm"] for row in served}
    return pa.table(
        {
            "query": [each.query for each in standings],
            "reads": [
                ", ".join(bench.outlets[each.query].query.plan.streams) for each in standings
            ],
            "at": pa.array([_instant(each.clock_us) for each in standings], _TIME),
            "rows": pa.array([_count(each.result) for each in standings], pa.int64()),
            "answers": pa.array([each.answers for each in standings], pa.int64()),
            "level": pa.array([each.level for each in standings], pa.string()),
            "algorithm": pa.array([algorithms.get(e.query) for e in standings], pa.string()),
        }
    )


_TIME = pa.timestamp("us", tz="UTC")


def _instant(clock_us: int | None) -> int | None:
    is_known = clock_us is not None and START_OF_TIME < clock_us < END_OF_TIME
    return clock_us if is_known else None


def _count(result: pa.Table | None) -> int | None:
    return None if result is None else int(result.num_rows)


def _histories(bench: Workbench, *, whole: bool) -> pa.Table:
    """What histories keep; since when they know it is for machines."""
    table = bench.session.histories()
    for name in ("measures", "keys", "levels"):
        index = table.column_names.index(name)
        texts = [", ".join(each) for each in table.column(name).to_pylist()]
        table = table.set_column(index, name, pa.array(texts, pa.string()))
    if not whole:
        table = table.select(["stream", "measures", "keys", "levels", "rows", "bytes"])
    return table.rename_columns(["history", *table.column_names[1:]])


def _columns(bench: Workbench, name: str) -> pa.Table:
    schema = bench.job.catalog[name]
    history = bench.job.histories.get(name)
    kept = {c.name for c in history.schema.measures} if history else set()
    keys = {c.name for c in history.schema.keys} if history else set()
    lateness = f"time, up to {show_span(schema.lateness_us)} late" if schema.lateness_us else "time"
    roles = [
        ", ".join(
            [lateness] * (column.name == schema.time)
            + ["measure of its history"] * (column.name in kept)
            + ["key of its history"] * (column.name in keys)
        )
        for column in schema.columns
    ]
    return pa.table(
        {
            "column": [column.name for column in schema.columns],
            "type": [str(column.type) for column in schema.columns],
            "role": roles,
        }
    )
