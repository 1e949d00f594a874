"""Queries of every form over the streams a, b, c and e and the view busy, for slow twins and rules.

Every window is [9], so that the text without it is one that DuckDB runs over tables.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from windrow.plan.catalog import Catalog, View
from windrow.schema import StreamSchema, columns_of
from windrow.sql import parse_query

STREAMS = (
    StreamSchema(
        "a", columns_of("k int, x bigint, s string, p decimal(10, 2), f double, ts timestamp"), "ts"
    ),
    StreamSchema("b", columns_of("k bigint, y bigint, s string, flag boolean, ts timestamp"), "ts"),
    StreamSchema("c", columns_of("y bigint, name string, ts timestamp"), "ts"),
    StreamSchema("e", columns_of("k int, v double, ts timestamp"), "ts"),
)
BUSY = "SELECT k, COUNT(*) AS n FROM a [9] GROUP BY k"
CATALOG = Catalog(*STREAMS).with_view(View("busy", parse_query(BUSY), BUSY))
START = datetime(2026, 1, 1, tzinfo=UTC)


def rows_of(stream: StreamSchema, *rows: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Rows of the stream, a second apart."""
    names = [column.name for column in stream.columns]
    times = (START + timedelta(seconds=place) for place in range(len(rows)))
    return [
        dict(zip(names, (*row, time), strict=True)) for row, time in zip(rows, times, strict=True)
    ]


HELD = {
    "a": rows_of(
        STREAMS[0],
        (1, 10, "u", Decimal("1.50"), 0.5),
        (1, 20, "v", Decimal("2.25"), math.nan),
        (2, 10, "u", None, -0.0),
        (2, None, "w", Decimal("0.10"), 0.0),
        (3, 30, None, Decimal("7.00"), 2.5),
        (None, 40, "u", Decimal("3.00"), None),
        (1, 10, "u", Decimal("1.50"), 0.5),
        (5, -3, "z", Decimal("9.99"), math.inf),
    ),
    "b": rows_of(
        STREAMS[1],
        (1, 10, "u", True),
        (1, 11, "v", False),
        (2, 10, "q", None),
        (4, None, "w", True),
        (None, 40, "u", False),
        (2, 30, None, True),
    ),
    "c": rows_of(STREAMS[2], (10, "ten"), (30, "thirty"), (None, "none"), (10, "dix")),
    "e": [],
}

_TEXTS = """
SELECT k, x FROM a [9];
SELECT * FROM a [9] WHERE x > 10 OR k IS NULL;
SELECT a.k, b.y FROM a [9] JOIN b [9] ON a.k = b.k;
SELECT a.k, b.y FROM a [9], b [9] WHERE a.k = b.k AND a.s = b.s;
SELECT a.k, b.y FROM a [9] LEFT JOIN b [9] ON a.k = b.k AND b.y > 10;
SELECT a.x, b.y FROM a [9] RIGHT JOIN b [9] ON a.k = b.k;
SELECT a.x, b.y FROM a [9] FULL JOIN b [9] ON a.k = b.k AND a.x = b.y;
SELECT k, a.x, b.y FROM a [9] FULL JOIN b [9] USING (k);
SELECT k, a.x, b.y FROM a [9] RIGHT JOIN b [9] USING (k);
SELECT * FROM (SELECT k, x FROM a [9]) AS l FULL JOIN (SELECT k, y FROM b [9]) AS r USING (k);
SELECT * FROM (SELECT k, s, x FROM a [9]) AS l NATURAL JOIN (SELECT k, s, y FROM b [9]) AS r;
SELECT COUNT(*) FROM a [9] CROSS JOIN c [9];
SELECT * FROM (SELECT k FROM a [9]) AS l SEMI JOIN b [9] ON l.k = b.k;
SELECT * FROM (SELECT k FROM a [9]) AS l ANTI JOIN b [9] ON l.k = b.k;
SELECT a.x, t.name FROM a [9] LEFT JOIN (b [9] JOIN c [9] AS t ON b.y = t.y) ON a.k = b.k;
SELECT a.x, b.y, c.name FROM a [9], b [9] LEFT JOIN c [9] ON b.y = c.y WHERE a.k = b.k;
SELECT k, COUNT(*), SUM(x), AVG(x), MIN(s), MAX(s), SUM(p) FROM a [9] GROUP BY k;
SELECT k + 1 AS g, COUNT(*) AS n FROM a [9] GROUP BY k + 1 HAVING COUNT(*) > 1;
SELECT s AS g, MAX(x) FROM a [9] GROUP BY g;
SELECT s, k, COUNT(x) FROM a [9] GROUP BY 1, 2;
SELECT COUNT(*), SUM(v) FROM e [9];
SELECT k, COUNT(*) FROM e [9] GROUP BY k;
SELECT COUNT(*) FROM a [9] HAVING SUM(x) > 1000;
SELECT COUNT(*) FROM a [9] HAVING SUM(x) > 10;
SELECT COUNT(DISTINCT x), COUNT(DISTINCT k, s), SUM(DISTINCT x), AVG(DISTINCT x) FROM a [9];
SELECT COUNT(*) FILTER (WHERE x > 10), SUM(x) FILTER (WHERE k = 1), MIN(s) FILTER (WHERE x < 0)
  FROM a [9];
SELECT k, 100 * SUM(x) / COUNT(*) AS m FROM a [9] GROUP BY k ORDER BY SUM(x) DESC, k LIMIT 2;
SELECT MIN(f), MAX(f), COUNT(DISTINCT f) FROM a [9];
SELECT VAR_POP(x), STDDEV_SAMP(x) FROM a [9] GROUP BY k;
SELECT DISTINCT k, s FROM a [9];
SELECT DISTINCT f FROM a [9];
SELECT DISTINCT k FROM a [9] ORDER BY k DESC LIMIT 2;
SELECT k, x FROM a [9] ORDER BY x, k, s LIMIT 3 OFFSET 1;
SELECT k AS x FROM a [9] ORDER BY a.x DESC, k LIMIT 2;
SELECT x FROM a [9] ORDER BY -x LIMIT 1;
SELECT k FROM a [9] UNION SELECT k FROM b [9];
SELECT k, s FROM a [9] UNION ALL SELECT y, s FROM b [9];
SELECT k FROM a [9] INTERSECT SELECT k FROM b [9];
SELECT k FROM a [9] EXCEPT SELECT k FROM b [9];
SELECT k FROM a [9] EXCEPT ALL SELECT k FROM b [9];
SELECT k FROM a [9] INTERSECT ALL SELECT k FROM b [9];
SELECT k, NULL AS y FROM a [9] UNION ALL SELECT NULL, y FROM b [9] ORDER BY 1, 2 LIMIT 4;
SELECT p FROM a [9] UNION SELECT 1 UNION SELECT 2.5;
SELECT * FROM (SELECT x FROM a [9] UNION ALL SELECT y FROM b [9]) AS u WHERE x > 10;
(SELECT x FROM a [9] ORDER BY x DESC LIMIT 1) UNION ALL (SELECT y FROM b [9] ORDER BY y LIMIT 2);
SELECT * FROM a [9] WHERE EXISTS (SELECT 1 FROM b [9] WHERE b.k = a.k AND b.y > a.x);
SELECT * FROM a [9] WHERE NOT EXISTS (SELECT 1 FROM b [9] WHERE b.k = a.k);
SELECT * FROM a [9] WHERE x IN (SELECT y FROM b [9]);
SELECT * FROM a [9] WHERE x NOT IN (SELECT y FROM b [9]);
SELECT * FROM a [9] WHERE x NOT IN (SELECT y FROM b [9] WHERE y IS NOT NULL);
SELECT * FROM a [9] WHERE NOT (x IN (SELECT y FROM c [9] WHERE y > 100));
SELECT * FROM a [9] WHERE (k, x) IN (SELECT k, y FROM b [9]);
SELECT k, x IN (SELECT y FROM b [9]) AS i, x NOT IN (SELECT y FROM c [9] WHERE y > 10) AS j FROM
  a [9];
SELECT k FROM a [9] WHERE x = 40 OR EXISTS (SELECT 1 FROM b [9] WHERE b.k = a.k AND flag);
SELECT k FROM a [9] WHERE x > ALL (SELECT y FROM c [9] WHERE y IS NOT NULL AND name <> 'thirty');
SELECT k FROM a [9] WHERE x < ANY (SELECT y FROM b [9]);
SELECT k, x >= ALL (SELECT y FROM b [9]) AS z FROM a [9];
SELECT k, (SELECT MAX(y) FROM b [9]) AS m FROM a [9];
SELECT k, (SELECT COUNT(*) FROM b [9] WHERE b.k = a.k) AS n FROM a [9];
SELECT x, (SELECT name FROM c [9] WHERE c.y = a.x AND name <> 'dix') AS name FROM a [9];
SELECT * FROM a [9] WHERE x > (SELECT AVG(i.x) FROM a [9] AS i WHERE i.k = a.k);
SELECT k, SUM(x) FROM a [9] GROUP BY k HAVING SUM(x) > (SELECT MIN(y) FROM b [9] WHERE b.k =
  a.k);
SELECT k, (SELECT MAX(y) FROM b [9] WHERE b.k = a.k) AS m, COUNT(*) FROM a [9] GROUP BY k;
SELECT (SELECT COUNT(*) FROM b [9] WHERE b.k = a.k) AS n, COUNT(*) FROM a [9] GROUP BY 1;
SELECT SUM((SELECT COUNT(*) FROM b [9] WHERE b.k = a.k)) FROM a [9];
SELECT k FROM a [9] ORDER BY (SELECT COUNT(*) FROM b [9] WHERE b.k = a.k) DESC, k LIMIT 2;
SELECT * FROM a [9] WHERE EXISTS (SELECT 1 FROM b [9] WHERE b.k = a.k AND EXISTS (SELECT 1 FROM
  c [9] WHERE c.y = b.y AND c.y = a.x));
SELECT a.k, b.y FROM a [9] JOIN b [9] ON a.k = b.k AND b.y IN (SELECT y FROM c [9]);
SELECT a.k, b.y FROM a [9] LEFT JOIN b [9] ON a.k = b.k AND b.y = (SELECT MAX(y) FROM c [9]);
SELECT a.k, b.y FROM a [9] LEFT JOIN b [9] ON a.k = b.k AND a.x IN (SELECT y FROM c [9]);
SELECT k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY x, s) AS r, x FROM a [9];
SELECT k, RANK() OVER (ORDER BY x) AS r, DENSE_RANK() OVER (ORDER BY x) AS d FROM a [9];
SELECT k, SUM(x) OVER (PARTITION BY k ORDER BY ts) AS r, SUM(x) OVER (PARTITION BY k) AS t FROM
  a [9];
SELECT x, SUM(x) OVER (ORDER BY ts ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS r FROM a [9];
SELECT x, COUNT(*) OVER (ORDER BY x RANGE BETWEEN 10 PRECEDING AND 10 FOLLOWING) AS r FROM a [9];
SELECT x, COUNT(*) OVER (ORDER BY ts RANGE BETWEEN INTERVAL 2 SECONDS PRECEDING AND CURRENT ROW)
  AS r FROM a [9];
SELECT x, LAG(x) OVER (ORDER BY ts) AS l, LEAD(x, 2, 0) OVER (ORDER BY ts) AS m FROM a [9];
SELECT x, FIRST_VALUE(x) OVER (ORDER BY ts) AS l, LAST_VALUE(x) OVER (ORDER BY ts) AS m,
  NTH_VALUE(x, 2) OVER (ORDER BY ts) AS n FROM a [9];
SELECT x, NTILE(3) OVER (ORDER BY ts) AS l, PERCENT_RANK() OVER (ORDER BY x) AS m, CUME_DIST()
  OVER (ORDER BY x) AS n FROM a [9];
SELECT k, SUM(x) AS t, RANK() OVER (ORDER BY SUM(x) DESC) AS r FROM a [9] GROUP BY k;
SELECT k, SUM(SUM(x)) OVER () AS t FROM a [9] GROUP BY k;
SELECT k, x FROM a [9] QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY x DESC, s) = 1;
SELECT k, x, RANK() OVER (PARTITION BY k ORDER BY x) AS r FROM a [9] QUALIFY r = 1;
SELECT SUM(x) FILTER (WHERE s = 'u') OVER (PARTITION BY k) AS t FROM a [9];
SELECT k, s, COUNT(*), GROUPING(k) AS g FROM a [9] GROUP BY ROLLUP (k, s);
SELECT k, s, SUM(x) FROM a [9] GROUP BY CUBE (k, s) HAVING COUNT(*) > 1;
SELECT k, s, GROUPING(k) + 2 * GROUPING(s) AS g FROM a [9] GROUP BY GROUPING SETS ((k), (s), ());
WITH t AS (SELECT k, SUM(x) AS total FROM a [9] GROUP BY k) SELECT l.k, r.total FROM t AS l JOIN
  t AS r ON l.total < r.total;
WITH t (g, n) AS (SELECT k, COUNT(*) FROM a [9] GROUP BY k), u AS (SELECT MAX(n) AS m FROM t)
  SELECT g FROM t, u WHERE n = m;
SELECT n, COUNT(*) FROM (SELECT k, COUNT(*) AS n FROM a [9] GROUP BY k) AS q (g, n) GROUP BY n;
SELECT b.k, v.n FROM b [9] LEFT JOIN busy AS v ON v.k = b.k;
SELECT * FROM (VALUES (1, 'a'), (2, NULL), (NULL, 'c')) AS t (n, w) WHERE n IS NOT NULL;
SELECT a.x, t.w FROM a [9] JOIN (VALUES (1, 'one'), (2.5, 'two')) AS t (n, w) ON a.k = t.n;
SELECT 1 AS one, 'x' AS t, (SELECT COUNT(*) FROM a [9]) AS n;
SELECT k FROM a [9] WHERE k IN (1, x - 9);
SELECT k, CASE WHEN EXISTS (SELECT 1 FROM b [9] WHERE b.k = a.k) THEN 'yes' ELSE 'no' END AS w
  FROM a [9];
SELECT * FROM (SELECT * FROM (SELECT k, x FROM a [9] WHERE x > 5) AS i WHERE k = 1) AS j ORDER
  BY x;
SELECT k, COUNT(*) FROM (SELECT k FROM a [9] UNION ALL SELECT k FROM b [9]) AS u GROUP BY k;
SELECT x FROM a [9] WHERE (SELECT COUNT(*) FROM b [9] WHERE b.k = a.k) > 1 AND k IS NOT NULL;
SELECT x FROM a [9] WHERE x = (SELECT MAX(y) FROM b [9] WHERE b.k IN (SELECT i.k FROM a [9] AS i
  WHERE i.x = a.x));
SELECT k, MAX(x) - MIN(x) AS d FROM a [9] WHERE k IN (SELECT k FROM b [9] GROUP BY k HAVING
  COUNT(*) > 1) GROUP BY k;
SELECT k, (SELECT MAX(q.y) FROM (SELECT y FROM b [9] WHERE b.k = a.k) AS q) AS m FROM a [9];
SELECT k FROM a [9]
  WHERE EXISTS (SELECT k FROM b [9] WHERE b.k = a.k UNION ALL SELECT y FROM c [9] WHERE y = a.x);
WITH t AS (SELECT y FROM c [9]) SELECT k FROM a [9] WHERE x IN (SELECT y FROM t);
SELECT k FROM a [9]
  WHERE x IN (WITH t AS (SELECT y FROM b [9] WHERE b.k = a.k) SELECT y FROM t);
SELECT k, SUM(x) FROM a [9] GROUP BY k HAVING SUM(x) IN (SELECT y FROM b [9]) OR k = 2;
SELECT k, SUM(x) FROM a [9] GROUP BY k HAVING k NOT IN (SELECT k FROM b [9] WHERE k > 1);
SELECT k, SUM(x) AS t FROM a [9] GROUP BY k ORDER BY t DESC, k LIMIT 2;
SELECT x, (SELECT y FROM b [9] WHERE b.k = a.k ORDER BY y LIMIT 1) AS y FROM a [9];
SELECT k FROM a [9] SEMI JOIN b [9] USING (k);
SELECT l.*, r.y FROM (SELECT k, x FROM a [9]) AS l LEFT JOIN b [9] AS r USING (k);
SELECT k, SUM(p) + 1 AS t, SUM(p) * 2 AS u FROM a [9] GROUP BY k;
SELECT t + 1 AS u FROM (SELECT SUM(p) AS t FROM a [9] GROUP BY k) AS q;
SELECT k FROM a [9] UNION SELECT k FROM b [9] UNION SELECT y FROM c [9];
SELECT k FROM a [9] UNION ALL SELECT k FROM b [9] UNION ALL SELECT 2.5;
SELECT k FROM a [9] UNION SELECT k FROM b [9] UNION ALL SELECT y FROM c [9];
SELECT k FROM a [9] UNION ALL SELECT k FROM b [9] EXCEPT SELECT y FROM c [9];
SELECT k FROM a [9] UNION ALL SELECT k FROM b [9] UNION SELECT y FROM c [9];
SELECT k FROM a [9] ORDER BY RANK() OVER (ORDER BY x DESC, k, s), k LIMIT 3;
SELECT DISTINCT SUM(x) OVER (PARTITION BY k) AS t FROM a [9];
SELECT k, COUNT(*) AS n FROM a [9] WHERE x > (SELECT MIN(y) FROM b [9]) GROUP BY k
  HAVING COUNT(*) >= (SELECT COUNT(*) FROM b [9] WHERE b.k = a.k);
SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM a [9] GROUP BY k, s) AS q;
SELECT a.k, q.n FROM a [9] LEFT JOIN (SELECT k, COUNT(*) AS n FROM b [9] GROUP BY k) AS q
  ON q.k = a.k WHERE COALESCE(q.n, 0) < 2;
SELECT k FROM a [9] WHERE (k = 1 OR x IN (SELECT y FROM b [9] WHERE b.k = a.k)) AND s IS NOT NULL;
SELECT k FROM a [9] WHERE NOT EXISTS (SELECT 1 FROM b [9] WHERE b.k = a.k AND
  NOT EXISTS (SELECT 1 FROM c [9] WHERE c.y = b.y));
SELECT k, SUM(x) FILTER (WHERE x IN (SELECT y FROM b [9])) AS t FROM a [9] GROUP BY k;
SELECT LOWER(s) || 'x' AS g, COUNT(*) FROM a [9] GROUP BY LOWER(s) ORDER BY LOWER(s);
SELECT SUM(x) AS t FROM a [9] GROUP BY ROLLUP (k) ORDER BY GROUPING(k), k LIMIT 3;
SELECT a.x, b.flag FROM a [9], b [9], c [9] WHERE a.x = c.y AND c.y = b.y
"""
QUERIES = [text.strip() for text in _TEXTS.split(";") if text.strip()]
