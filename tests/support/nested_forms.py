"""Forms of query over columns of all types, their rows, and the runners that give answers to them.

In process most run as trees of relations, on Spark as blocks: each is the slow twin of the other.
"""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

import windrow
from support.form_runners import Given
from support.spark.driven_job import DrivenJob, heartbeat
from windrow.event_time import END_OF_TIME
from windrow.plan.catalog import Catalog
from windrow.plan.relations.on_spark import plan_on_spark
from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
from windrow.schema import StreamSchema, columns_of
from windrow.sql import parse_query

__all__ = [
    "COLUMNS",
    "JSON_ROW",
    "NESTED_FORMS",
    "REFUSED",
    "batches",
    "in_buckets",
    "in_process",
    "planned",
]

COLUMNS = (
    "ts timestamp, k int, bin binary, big decimal(38, 10), day interval day to second, "
    "months interval year to month, local timestamp_ntz, a array<int>, m map<string, int>, "
    "st struct<x: int, y: struct<z: string, w: double>>, "
    "ar array<struct<p: decimal(20, 2), q: timestamp, r: date>>"
)
STREAMS = {name: StreamSchema(name, columns_of(COLUMNS), "ts") for name in ("n", "o")}

NESTED_FORMS = {
    "all": "SELECT * FROM n [3 SECONDS]",
    "last-rows": "SELECT k, a, ar FROM n [PARTITION BY k ROWS 2]",
    "partition-by-array": "SELECT m FROM n [PARTITION BY a ROWS 1]",
    "unbounded": "SELECT m, st FROM n WHERE SIZE(a) > 1",
    "access": "SELECT st.y.z AS z, m['k'] AS v, GET(ar, 0).p AS p FROM n [2 SECONDS]",
    "array-functions": (
        "SELECT TRANSFORM(a, x -> x + 1) AS t, MAP_KEYS(m) AS ks, ARRAY_CONTAINS(a, 1) AS c,"
        " TO_JSON(st) AS j FROM n [2 SECONDS]"
    ),
    "by-field": "SELECT st.x AS x, COUNT(*) AS n, SUM(GET(a, 0)) AS s FROM n [3] GROUP BY st.x",
    "by-array": "SELECT a, COUNT(*) AS n, SUM(k) AS s FROM n [3 SECONDS] GROUP BY a",
    "by-struct": "SELECT st, ar, COUNT(m) AS n FROM n [3 SECONDS] GROUP BY st, ar",
    "by-bytes": "SELECT bin, MAX(day) AS d FROM n [3 SECONDS] GROUP BY bin HAVING COUNT(*) > 1",
    "by-wide-decimal": "SELECT big, COUNT(*) AS n FROM n [3 SECONDS] GROUP BY big",
    "by-intervals": (
        "SELECT day, months, local, COUNT(*) AS n FROM n [3 SECONDS] GROUP BY day, months, local"
    ),
    "extremes": "SELECT MAX(day) AS d, MIN(months) AS m, MAX(local) AS l FROM n [3 SECONDS]",
    "distinct": "SELECT DISTINCT a, bin FROM n [3 SECONDS]",
    "distinct-wide": "SELECT DISTINCT big, st FROM n [3 SECONDS]",
    "joined-rows": (
        "SELECT n.a, o.m, n.big + 1 AS b FROM n [3 SECONDS], o [2 SECONDS] WHERE n.k = o.k"
    ),
    "join-by-array": "SELECT COUNT(*) AS c FROM n [3 SECONDS], o [3 SECONDS] WHERE n.a = o.a",
    "join-by-field": (
        "SELECT n.st.x, COUNT(o.a) AS c, SUM(o.k) AS t FROM n [3 SECONDS], o [3 SECONDS]"
        " WHERE n.st.x = o.st.x GROUP BY n.st.x"
    ),
    "join-by-bytes": "SELECT SUM(n.k) AS t FROM n [3 SECONDS], o [3 SECONDS] WHERE n.bin = o.bin",
    "join-by-wide-decimal": (
        "SELECT n.big, COUNT(*) AS c FROM n [3 SECONDS], o [3 SECONDS] WHERE n.big = o.big"
        " GROUP BY n.big"
    ),
    "residual": (
        "SELECT COUNT(*) AS c, COUNT(o.a) AS d FROM n [3 SECONDS], o [2 SECONDS]"
        " WHERE n.k = o.k AND n.a < o.a"
    ),
    "not-exists": (
        "SELECT m, big FROM n [3 SECONDS] WHERE NOT EXISTS"
        " (SELECT 1 FROM o [1 SECOND] WHERE o.bin = n.bin AND o.a <> n.a)"
    ),
    "largest-bytes": "SELECT MAX(bin) AS x, COUNT(DISTINCT a) AS n FROM n [3]",
    "wide-sum": "SELECT SUM(big) AS x FROM n [3]",
    "collected": "SELECT COLLECT_LIST(a) AS x, FIRST(st) AS y FROM n [3]",
    "exploded": "SELECT k, EXPLODE(a) AS x FROM n [3]",
    "unnested": "SELECT k, u.x FROM n [3], UNNEST(a) AS u(x)",
    "three": (
        "SELECT COUNT(*) AS c, MAX(z.k) AS q FROM n [3 SECONDS], o [2 SECONDS], n [2 SECONDS] AS z"
        " WHERE n.a = o.a AND o.bin = z.bin"
    ),
}
# What is refused, by the code of the refusal.
REFUSED = {
    "SELECT a, COUNT(*) AS c FROM n [3] GROUP BY a ERROR (5%)": "WU720",
    "SELECT m, COUNT(*) AS c FROM n [3] GROUP BY m": "WB724",
    "SELECT DISTINCT m FROM n [3]": "WB724",
}

# A row as JSON has it.
JSON_ROW: dict[str, object] = {
    "ts": "2026-01-01T00:00:00Z",
    "k": 1,
    "bin": "AP8=",
    "big": "1234567890123456789012345678.5",
    "day": "INTERVAL '1 00:00:00.000001' DAY TO SECOND",
    "months": "1-2",
    "local": "2026-01-01T12:00:00",
    "a": [1, None],
    "m": {"k": 1, "z": None},
    "st": {"x": 1, "y": {"z": "é", "w": 1.5}},
    "ar": [{"p": "-1.50", "q": "2026-01-01T00:00:00Z", "r": "1969-12-31"}, None],
}

_BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
_STRUCTS = (None, {"x": 1, "y": None}, {"x": 0, "y": {"z": "é", "w": -0.0}})
_PAIRS = (None, [], [{"p": Decimal("-1.50"), "q": _BEGINNING, "r": date(1969, 12, 31)}, None])


def batches() -> list[tuple[str, pa.RecordBatch]]:
    """Rows of both streams in small batches, in order, with ties, NULL and empty values."""
    draw = random.Random(7)
    made = []
    for number in range(16):
        stream = draw.choice("nno")
        times = [_BEGINNING + timedelta(seconds=number + i) for i in (0, 0, 1)]
        rows = [_row(draw, time) for time in times[: draw.choice((1, 2, 3))]]
        made.append((stream, pa.RecordBatch.from_pylist(rows, schema=STREAMS["n"].arrow)))
    return made


def _row(draw: random.Random, time: datetime) -> dict[str, object]:
    return {
        "ts": time,
        "k": draw.choice((0, 1, None)),
        "bin": draw.choice((b"", b"\x00\xff", b"\x00\xff", None)),
        "big": draw.choice((Decimal("1234567890123456789012345678.5"), Decimal(-1), None)),
        "day": draw.choice((timedelta(days=1, microseconds=1), timedelta(seconds=-1), None)),
        "months": draw.choice((14, -1, None)),
        "local": draw.choice((datetime(2026, 1, 1, 12), None)),  # noqa: DTZ001 - it has no zone
        "a": draw.choice(([], [1, None], [1, 2], [0], None)),
        "m": draw.choice(([], [("k", 1), ("z", None)], None)),
        "st": draw.choice(_STRUCTS),
        "ar": draw.choice(_PAIRS),
    }


def planned(text: str) -> RunnablePlan:
    """The plan of a query on Spark."""
    catalog = Catalog()
    for schema in STREAMS.values():
        catalog = catalog.with_stream(schema)
    return plan_on_spark(parse_query(text), catalog, "auto", "auto")


def in_process(text: str) -> Given:
    """A session in this process."""
    session = windrow.connect()
    for name in STREAMS:
        session.stream(name, COLUMNS, time="ts")
    query = session.query(text)
    for stream, batch in batches():
        session.push(stream, batch)
    session.finish()
    return Given(query.answers(), query.changes(), query.result())


def in_buckets(text: str, folder: Path) -> Given:
    """Spark's packers, buckets and driver without Spark; taken up from the state in the middle."""
    plan = planned(text)
    job = DrivenJob(plan, folder, buckets=1 if isinstance(plan, TreePlan) else 2)
    given = []
    for number, (stream, batch) in enumerate(batches()):
        if stream in plan.streams:
            given.append(job.batch({stream: batch}))
        if number == 8:
            job.restart()
    ends = [heartbeat(stream, END_OF_TIME) for stream in plan.streams]
    given.append(job.batch({}, ends))
    whole = {
        feed: pa.concat_tables([each[feed] for each in given]) for feed in ("answers", "changes")
    }
    return Given(**whole, result=job.publication.result())
