"""Sessions with tables: what they are given, and the slow account of what their tables hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from support.runners import BEGINNING, Judge, Model
from support.sessions import give, session_of
from support.sql_oracle import FROM, NEVER, TO, SqlOracle
from support.streams import CATALOG, TICK_US, Action, Heartbeat, Push, instant, scenarios, texts
from support.streams import doubles as any_doubles
from windrow.embedded import EmbeddedSession
from windrow.event_time import MIN_EVENT_TIME
from windrow.plan.relations.planner import plan_query
from windrow.plan.relations.tree_plan import TreePlan
from windrow.schema import columns_of
from windrow.sql import parse_query
from windrow.table_schema import TableSchema

__all__ = [
    "TABLES", "TABLE_CATALOG", "Change", "TableModel", "assert_tables_are_right", "give_any",
    "model_of", "table_scenarios", "table_session",
]  # fmt: skip

TABLES = {
    table.name: table
    for table in (
        TableSchema("t", columns_of("k int, s string, n bigint"), "", key=("k",)),
        TableSchema("v", columns_of("k int, s string, ts timestamp, n bigint"), "ts", key=("k",)),
        TableSchema("w", columns_of("s string, d double, n bigint"), "", key=("s", "d")),
    )
}
TABLE_CATALOG = CATALOG
for _table in TABLES.values():
    TABLE_CATALOG = TABLE_CATALOG.with_table(_table)


@dataclass(frozen=True)
class Change:
    """Rows of a table to be inserted or updated, or of which there are none any more."""

    table: str
    rows: tuple[dict[str, Any], ...]
    is_deletion: bool = False


AnyAction = Action | Change


def table_session(memory: str = "1 GB") -> EmbeddedSession:
    """A session with the streams a, b and c and all tables."""
    session = session_of(memory)
    for table in TABLES.values():
        session.table(table.name, table.arrow, key=table.key, time=table.time or None)
    return session


def give_any(session: EmbeddedSession, action: AnyAction) -> None:
    """Pushes, advances, upserts or deletes."""
    if not isinstance(action, Change):
        give(session, action)
    elif action.is_deletion:
        session.delete(action.table, list(action.rows))
    else:
        session.upsert(action.table, list(action.rows))


@dataclass
class _Version:
    at: int
    time: int
    row: dict[str, Any] | None


@dataclass
class TableModel:
    """All versions that tables were ever given, and when they take effect."""

    streams: Model = field(default_factory=Model)
    reached: int = BEGINNING
    versions: dict[str, dict[tuple[Any, ...], list[_Version]]] = field(default_factory=dict)

    def take(self, action: AnyAction) -> None:
        """Apply an action."""
        if not isinstance(action, Change):
            self.streams.take(action)
            return
        schema = TABLES[action.table]
        complete = max(stream.through for stream in self.streams.streams.values())
        reached = max(complete, self.reached)
        newest = max(stream.newest for stream in self.streams.streams.values())
        for row in action.rows:
            at = time = max(newest, reached) + 1
            if schema.has_time and not action.is_deletion:
                time = _micros(row[schema.time])
                at = max(time, reached + 1)
            if not schema.has_time or action.is_deletion or time <= reached:
                self.reached = max(self.reached, at)
            key = tuple(_plain(row[name]) for name in schema.key)
            version = _Version(at, time, None if action.is_deletion else row)
            self.versions.setdefault(action.table, {}).setdefault(key, []).append(version)

    def rows(self) -> dict[str, pa.Table]:
        """All rows of streams that count, and all versions of tables with their spans."""
        found = self.streams.rows()
        for name, schema in TABLES.items():
            spans = [
                {**version.row, FROM: begin, TO: end}
                for versions in self.versions.get(name, {}).values()
                for version, begin, end in _spans(versions)
                if version.row is not None
            ]
            arrow = schema.arrow.append(pa.field(FROM, pa.int64())).append(pa.field(TO, pa.int64()))
            found[name] = pa.Table.from_pylist(spans, schema=arrow)
        return found

    def last(self, plan: TreePlan) -> int:
        """The clock when all streams have ended."""
        newest = max(stream.newest for stream in self.streams.streams.values())
        times = [v.at for keys in self.versions.values() for each in keys.values() for v in each]
        reached = max([self.reached, newest, *times])
        if not plan.streams:
            return reached
        return max(self.streams.last(plan), min(reached, MIN_EVENT_TIME - 1))


def _spans(versions: list[_Version]) -> list[tuple[_Version, int, int]]:
    """Of each version that was ever the newest from when to when it was."""
    found: list[tuple[_Version, int, int]] = []
    for at in sorted({version.at for version in versions}):
        known = [(each.time, each.at, i) for i, each in enumerate(versions) if each.at <= at]
        newest = versions[max(known)[2]]
        if newest.at == at:
            if found:
                found[-1] = (*found[-1][:2], at)
            found.append((newest, at, NEVER))
    return found


def _plain(value: Any) -> Any:
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def _micros(time: Any) -> int:
    return pa.scalar(time, pa.timestamp("us", "UTC")).cast(pa.int64()).as_py()


def model_of(actions: Sequence[AnyAction]) -> TableModel:
    """The account of all actions."""
    model = TableModel()
    for action in actions:
        model.take(action)
    return model


def assert_tables_are_right(text: str, model: TableModel, told: Sequence[pa.Table]) -> None:
    """Answers, changes and result of a query that saw everything are what DuckDB says."""
    plan = plan_query(parse_query(text), TABLE_CATALOG)
    assert isinstance(plan, TreePlan)
    judge = Judge(plan)
    judge.oracle = SqlOracle(text, TABLE_CATALOG)
    judge.check(model.rows(), BEGINNING, model.last(plan), *told)


# ---- scenarios

keys = st.sampled_from([0, 0, 1, 1, 2, 3])
numbers = st.sampled_from([0, 1, 2, 7, -3, None])


@st.composite
def table_scenarios(draw: st.DrawFn, most_rows: int = 16) -> list[AnyAction]:
    """Pushes, and in between changes of tables, also before the first row."""
    actions = draw(scenarios(most_rows, "aab"))
    found: list[AnyAction] = []
    now_us = next((_first(action) for action in actions if _first(action) is not None), 0)
    for action in [None, *actions]:
        if action is not None:
            found.append(action)
            now_us = _first(action) or now_us
        count = draw(st.sampled_from([0, 0, 1, 1, 2]))
        found += [draw(_changes(now_us or 0)) for _ in range(count)]
    return found


def _first(action: Action) -> int | None:
    if isinstance(action, Heartbeat):
        return action.to_us
    assert isinstance(action, Push)
    return _micros(action.rows[-1]["ts"]) if action.rows else None


@st.composite
def _changes(draw: st.DrawFn, now_us: int) -> Change:
    table = draw(st.sampled_from("ttvvw"))
    is_deletion = draw(st.integers(0, 3)) == 0
    rows = []
    for _ in range(draw(st.sampled_from([0, 1, 1, 2, 3]))):
        row: dict[str, Any] = {}
        if table == "w":
            row["s"] = draw(texts.filter(lambda text: text is not None))
            row["d"] = draw(any_doubles.filter(lambda number: number is not None))
        else:
            row["k"] = draw(keys)
        if not is_deletion:
            row["n"] = draw(numbers)
            row.setdefault("s", draw(texts))
            if table == "v":
                row["ts"] = instant(now_us + draw(st.integers(-4, 6)) * TICK_US)
        rows.append(row)
    return Change(table, tuple(rows), is_deletion)
