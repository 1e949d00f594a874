"""The queries that are disturbed, their streams, and the rows that come, file by file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from support.spark.stream_files import COLUMNS, SECOND, rows
from windrow.plan.catalog import Catalog
from windrow.plan.relations.on_spark import plan_on_spark
from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
from windrow.schema import StreamSchema, columns_of
from windrow.sql import parse_query
from windrow.table_schema import TableSchema

__all__ = [
    "ASKED", "BUCKETS", "LATENESS_S", "TABLE", "Asked", "file_rows", "plan_of_asked", "table_rows",
    "tables_of_asked",
]  # fmt: skip

BUCKETS = 2
LATENESS_S = {"a": 0, "b": 0, "d": 2, "g": 0}
# A file of each stream holds ten seconds of it.
SPAN_US = 10 * SECOND


@dataclass(frozen=True)
class Asked:
    """One query: its text, its feed, and the memory of its session, where that is short."""

    text: str
    feed: str = "answers"
    memory: str = "1 GB"


ASKED = {
    "join": Asked(
        """SELECT a.room, COUNT(*) AS n, SUM(b.value) AS total FROM a [30 SECONDS], b [20 SECONDS]
           WHERE a.room = b.room GROUP BY a.room""",
        "changes",
    ),
    "ticks": Asked(
        """SELECT room, COUNT(*) AS n, AVG(value) AS mean FROM a [20 SECONDS] GROUP BY room
           EVERY (3 SECONDS)"""
    ),
    # Many rows between ticks and few rooms: rows become one before the shuffle.
    "combined": Asked(
        "SELECT room, COUNT(*) AS n FROM g [40 SECONDS] GROUP BY room EVERY (5 SECONDS)"
    ),
    # The same rows, of which few are a room's largest or smallest: the others stay behind.
    "picked": Asked(
        """SELECT room, MIN(value) AS low, MAX(value) AS high FROM g [40 SECONDS] GROUP BY room
           EVERY (5 SECONDS)"""
    ),
    "late": Asked("SELECT room, COUNT(*) AS n, SUM(value) AS s FROM d [9 SECONDS] GROUP BY room"),
    "distinct": Asked("SELECT DISTINCT room, value FROM a [15 SECONDS]", "changes"),
    "extremes": Asked(
        """SELECT a.room, MIN(b.value) AS low, MAX(b.value) AS high
           FROM a [12 SECONDS], b [9 SECONDS] WHERE a.room = b.room GROUP BY a.room""",
        "changes",
    ),
    "governed": Asked(
        """SELECT room, COUNT(*) AS n, SUM(value) AS s FROM g [40 SECONDS] GROUP BY room
           ERROR (60%)""",
        memory="48 KB",
    ),
    # In two stages: rows are counted by room, and rooms by their counts.
    "staged": Asked(
        """SELECT q.n, COUNT(*) AS rooms, SUM(q.s) AS total FROM
           (SELECT room, COUNT(*) AS n, SUM(value) AS s FROM d [9 SECONDS] GROUP BY room) AS q
           GROUP BY q.n""",
        "changes",
    ),
    # The same with a table whose rows change, and groups that each bucket begins.
    "kinds": Asked(
        """SELECT k.kind, COUNT(*) AS n, MAX(a.value) AS high FROM a [20 SECONDS]
           LEFT JOIN kinds AS k ON a.room = k.room GROUP BY k.kind EVERY (3 SECONDS)""",
        "changes",
    ),
}

TABLE = TableSchema("kinds", columns_of("room string, kind string"), "", key=("room",))


def plan_of_asked(name: str) -> RunnablePlan:
    """The plan of a query, as a session on Spark binds it."""
    catalog = Catalog().with_table(TABLE)
    for stream, lateness in LATENESS_S.items():
        schema = StreamSchema(stream, columns_of(COLUMNS), "ts", lateness * SECOND)
        catalog = catalog.with_stream(schema)
    return plan_on_spark(parse_query(ASKED[name].text), catalog, "auto", "auto")


def tables_of_asked(name: str) -> tuple[TableSchema, ...]:
    """The tables that a query reads."""
    plan = plan_of_asked(name)
    return (TABLE,) if isinstance(plan, TreePlan) and plan.own_tables else ()


def table_rows(number: int, seed: int) -> pa.Table:
    """One file of the table: the kinds of two rooms, or of one twice."""
    random = np.random.default_rng([seed, number])
    found = [{"room": f"r{random.integers(3)}", "kind": f"k{random.integers(2)}"} for _ in range(2)]
    return pa.Table.from_pylist(found, schema=TABLE.arrow)


def file_rows(stream: str, number: int, seed: int) -> pa.Table:
    """The rows of one file: some late in d, many in g, ties everywhere."""
    random = np.random.default_rng([seed, number, ord(stream)])
    count = 500 if stream == "g" else 40
    # g is steady, so that its window can be narrowed within the error that its query allows.
    step = SECOND // 50 if stream == "g" else SECOND // 10
    offsets = np.arange(count) if stream == "g" else np.sort(random.integers(0, 100, count))
    times = number * SPAN_US + offsets * step
    if stream == "d":
        times = times - random.choice([0, 0, 0, 5, 15], count) * SECOND
    return rows(
        *(
            (f"r{random.integers(3)}", max(0, int(time)), float(random.integers(9)) / 7)
            for time in times
        )
    )
