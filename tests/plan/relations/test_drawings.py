"""What queries are bound to, drawn: a form each."""

from __future__ import annotations

from textwrap import dedent

import pytest

from support.relation_texts import CATALOG
from windrow.plan.catalog import View
from windrow.plan.relations.binder import bind_query
from windrow.plan.relations.show import show_relation
from windrow.sql import parse_query

TIMED = "SELECT k, COUNT(*) AS n FROM a [9] GROUP BY k EVERY (5 SECONDS)"
WITH_TIMED = CATALOG.with_view(View("timed", parse_query(TIMED), TIMED))

# What it shows, the query, and its drawing.
FORMS = [
    (
        "a block",
        "SELECT k, SUM(x) AS t FROM a [9] WHERE x > 1 GROUP BY k HAVING COUNT(*) > 1",
        """
        columns a.k, t = sum
          where count_star > 1
            a row for each a.k: sum = SUM(a.x), count_star = COUNT(*)
              where a.x > 1
                a [9 seconds]
        """,
    ),
    (
        "a join",
        "SELECT a.x, b.y FROM a [9], b [ROWS 5] WHERE a.k = b.k",
        """
        columns a.x, b.y
          where a.k = b.k
            join of all pairs
              a [9 seconds]
              b [last 5 rows]
        """,
    ),
    (
        "a left join",
        "SELECT a.x, b.y FROM a [9] LEFT JOIN b [9] ON a.k = b.k AND b.y > 1",
        """
        columns a.x, b.y
          left join on a.k = b.k AND b.y > 1
            a [9 seconds]
            b [9 seconds]
        """,
    ),
    (
        "a right join",
        "SELECT a.x, b.y FROM a [9] RIGHT JOIN b [9] ON a.k = b.k",
        """
        columns a.x, b.y
          left join on a.k = b.k
            b [9 seconds]
            a [9 seconds]
        """,
    ),
    (
        "a full join using",
        "SELECT * FROM (SELECT k, x FROM a [9]) AS l FULL JOIN (SELECT k, y FROM b [9]) AS r "
        "USING (k)",
        """
        columns k, a.x, b.y
          columns k = COALESCE(a.k, b.k), a.k, a.x, b.k, b.y
            full join on a.k = b.k
              columns a.k, a.x
                a [9 seconds]
              columns b.k, b.y
                b [9 seconds]
        """,
    ),
    (
        "a natural join",
        "SELECT * FROM (SELECT y, k FROM b [9]) AS l NATURAL JOIN (SELECT y, name FROM c [9]) AS r",
        """
        columns b.y, b.k, c.name
          join on b.y = c.y
            columns b.y, b.k
              b [9 seconds]
            columns c.y, c.name
              c [9 seconds]
        """,
    ),
    (
        "an anti join",
        "SELECT k FROM a [9] ANTI JOIN b [9] ON a.k = b.k",
        """
        columns a.k
          anti join on a.k = b.k
            a [9 seconds]
            b [9 seconds]
        """,
    ),
    (
        "a comma and an outer join",
        "SELECT 1 AS one FROM a [9], b [9] LEFT JOIN c [9] ON b.y = c.y",
        """
        columns one = 1
          join of all pairs
            a [9 seconds]
            left join on b.y = c.y
              b [9 seconds]
              c [9 seconds]
        """,
    ),
    (
        "joins in brackets",
        "SELECT 1 AS one FROM a [9] LEFT JOIN (b [9] JOIN c [9] ON b.y = c.y) ON a.k = b.k",
        """
        columns one = 1
          left join on a.k = b.k
            a [9 seconds]
            join on b.y = c.y
              b [9 seconds]
              c [9 seconds]
        """,
    ),
    (
        "exists",
        "SELECT x FROM a [9] WHERE EXISTS (SELECT y FROM b [9] WHERE b.k = a.k)",
        """
        columns a.x
          rows for which a sub-query has a row
            a [9 seconds]
            columns b.y
              where b.k = a.k
                b [9 seconds]
        """,
    ),
    (
        "not exists",
        "SELECT x FROM a [9] WHERE x > 1 AND NOT EXISTS (SELECT y FROM b [9] WHERE b.k = a.k)",
        """
        columns a.x
          rows for which a sub-query has no row
            where a.x > 1
              a [9 seconds]
            columns b.y
              where b.k = a.k
                b [9 seconds]
        """,
    ),
    (
        "in a query",
        "SELECT x FROM a [9] WHERE x IN (SELECT y FROM b [9])",
        """
        columns a.x
          rows for which a sub-query has a row with a.x = b.y
            a [9 seconds]
            columns b.y
              b [9 seconds]
        """,
    ),
    (
        "not in a query",
        "SELECT x FROM a [9] WHERE x NOT IN (SELECT y FROM b [9])",
        """
        columns a.x
          rows for which a sub-query has no row with a.x = b.y OR a.x IS NULL OR b.y IS NULL
            a [9 seconds]
            columns b.y
              b [9 seconds]
        """,
    ),
    (
        "all of a query",
        "SELECT x FROM a [9] WHERE x > ALL (SELECT y FROM b [9])",
        """
        columns a.x
          rows for which a sub-query has no row with a.x <= b.y OR a.x IS NULL OR b.y IS NULL
            a [9 seconds]
            columns b.y
              b [9 seconds]
        """,
    ),
    (
        "in as a value",
        "SELECT x IN (SELECT y FROM b [9]) AS i FROM a [9]",
        """
        columns i = CASE WHEN rows > 0 THEN TRUE WHEN rows#2 = 0 THEN FALSE \
WHEN a.x IS NULL OR nulls > 0 THEN NULL ELSE FALSE END
          for each row, the value of a sub-query
            for each row, the value of a sub-query
              a [9 seconds]
              one row: rows = COUNT(*)
                where a.x = b.y
                  columns b.y
                    b [9 seconds]
            one row: rows#2 = COUNT(*), nulls = COUNT(CASE WHEN b.y#2 IS NULL THEN 1 ELSE NULL END)
              columns b.y#2
                b [9 seconds]
        """,
    ),
    (
        "exists under or",
        "SELECT x FROM a [9] WHERE x = 1 OR EXISTS (SELECT y FROM b [9] WHERE b.k = a.k)",
        """
        columns a.x
          where a.x = 1 OR rows > 0
            for each row, the value of a sub-query
              a [9 seconds]
              one row: rows = COUNT(*)
                columns b.y
                  where b.k = a.k
                    b [9 seconds]
        """,
    ),
    (
        "a value of a query",
        "SELECT (SELECT y FROM b [9] WHERE b.k = a.k) AS y FROM a [9]",
        """
        columns b.y
          for each row, the value of a sub-query
            a [9 seconds]
            at most one row
              columns b.y
                where b.k = a.k
                  b [9 seconds]
        """,
    ),
    (
        "a value of one row",
        "SELECT x FROM a [9] WHERE x > (SELECT AVG(y) FROM b [9])",
        """
        columns a.x
          where a.x > avg(y)
            for each row, the value of a sub-query
              a [9 seconds]
              columns avg(y) = avg
                one row: avg = AVG(b.y)
                  b [9 seconds]
        """,
    ),
    (
        "a value of groups",
        "SELECT k, (SELECT MAX(y) FROM b [9] WHERE b.k = a.k) AS m FROM a [9] GROUP BY k",
        """
        columns a.k, m = max(y)
          for each row, the value of a sub-query
            a row for each a.k
              a [9 seconds]
            columns max(y) = max
              one row: max = MAX(b.y)
                where b.k = a.k
                  b [9 seconds]
        """,
    ),
    (
        "a query in on",
        "SELECT a.x FROM a [9] LEFT JOIN b [9] ON a.k = b.k AND a.x = (SELECT MAX(y) FROM c "
        "[9] WHERE c.name = a.s)",
        """
        columns a.x
          left join on a.k = b.k AND a.x = max(y)
            for each row, the value of a sub-query
              a [9 seconds]
              columns max(y) = max
                one row: max = MAX(c.y)
                  where c.name = a.s
                    c [9 seconds]
            b [9 seconds]
        """,
    ),
    (
        "functions over rows",
        "SELECT k, RANK() OVER (PARTITION BY k ORDER BY x DESC) AS r, SUM(x) OVER () AS t "
        "FROM a [9] QUALIFY r = 1",
        """
        columns a.k, r = rank, t = sum
          where rank = 1
            with sum = SUM(a.x) over all rows
              with rank = RANK() for each a.k by a.x DESC
                a [9 seconds]
        """,
    ),
    (
        "functions over groups",
        "SELECT k, RANK() OVER (ORDER BY SUM(x)) AS r FROM a [9] GROUP BY k",
        """
        columns a.k, r = rank
          with rank = RANK() by sum
            a row for each a.k: sum = SUM(a.x)
              a [9 seconds]
        """,
    ),
    (
        "frames",
        "SELECT LAG(x) OVER (ORDER BY ts) AS l, MAX(x) OVER (ORDER BY ts ROWS BETWEEN 2 "
        "PRECEDING AND 1 FOLLOWING) AS m FROM a [9]",
        """
        columns l = lag, m = max
          with lag = LAG(a.x, 1, NULL), max = MAX(a.x) over rows -2 to +1 by a.ts
            a [9 seconds]
        """,
    ),
    (
        "grouping sets",
        "SELECT k, COUNT(*) AS n, GROUPING(k) AS g FROM a [9] GROUP BY ROLLUP (k)",
        """
        columns k#2, n = count_star#3, g = grouping#3
          union all: k#2, count_star#3, grouping#3
            columns a.k, count_star, grouping = 0
              a row for each a.k: count_star = COUNT(*)
                a [9 seconds]
            columns k = NULL, count_star#2, grouping#2 = 1
              one row: count_star#2 = COUNT(*)
                a [9 seconds]
        """,
    ),
    (
        "distinct and filter",
        "SELECT COUNT(DISTINCT k, x) AS n, SUM(x) FILTER (WHERE k = 1) AS f, COUNT(*) FILTER "
        "(WHERE k = 2) AS g FROM a [9]",
        """
        columns n = count, f = sum, g = count#2
          one row: count = COUNT(DISTINCT a.k, a.x), \
sum = SUM(CASE WHEN a.k = 1 THEN a.x ELSE NULL END), \
count#2 = COUNT(CASE WHEN a.k = 2 THEN 1 ELSE NULL END)
            a [9 seconds]
        """,
    ),
    (
        "union",
        "SELECT x FROM a [9] UNION SELECT y FROM b [9] ORDER BY 1 LIMIT 3",
        """
        the first 3 rows by x
          columns x
            every different row once
              union all: x
                columns a.x
                  a [9 seconds]
                columns b.y
                  b [9 seconds]
        """,
    ),
    (
        "except all",
        "SELECT x FROM a [9] EXCEPT ALL SELECT k FROM a [9]",
        """
        except all: x
          columns a.x
            a [9 seconds]
          columns k = a.k#2
            columns a.k#2
              a [9 seconds]
        """,
    ),
    (
        "distinct",
        "SELECT DISTINCT k FROM a [9]",
        """
        every different row once
          columns a.k
            a [9 seconds]
        """,
    ),
    (
        "the first rows",
        "SELECT k FROM a [9] ORDER BY x DESC NULLS FIRST LIMIT 3 OFFSET 2",
        """
        the first 3 rows after 2 by order DESC NULLS FIRST
          columns a.k, order = a.x
            a [9 seconds]
        """,
    ),
    (
        "the first rows within",
        "SELECT k FROM (SELECT k FROM a [9] ORDER BY x LIMIT 3) AS q",
        """
        columns a.k
          columns a.k
            the first 3 rows by order
              columns a.k, order = a.x
                a [9 seconds]
        """,
    ),
    (
        "order without limit within",
        "SELECT k FROM (SELECT k FROM a [9] ORDER BY x) AS q",
        """
        columns a.k
          columns a.k
            a [9 seconds]
        """,
    ),
    (
        "a view twice",
        "SELECT l.n FROM busy AS l JOIN busy AS r ON l.k = r.k",
        """
        columns n
          join on a.k = a.k#2
            columns a.k, n = count_star
              a row for each a.k: count_star = COUNT(*)
                a [9 seconds]
            columns a.k#2, n#2 = count_star#2
              a row for each a.k#2: count_star#2 = COUNT(*)
                a [9 seconds]
        """,
    ),
    (
        "common tables",
        "WITH t (g) AS (SELECT k FROM a [9]), u AS (SELECT g FROM t) SELECT g FROM u",
        """
        columns g
          columns g = a.k
            columns a.k
              a [9 seconds]
        """,
    ),
    (
        "answers as a stream",
        "SELECT q.at AS t, q.n FROM timed [10 SECONDS] AS q",
        """
        columns t = at, n
          answers every 5 seconds [10 seconds], timed by at
            columns a.k, n = count_star
              a row for each a.k: count_star = COUNT(*)
                a [9 seconds]
        """,
    ),
    (
        "values",
        "SELECT n FROM (VALUES (1, 'a'), (2.5, NULL)) AS t (n, w)",
        """
        columns n = col1
          values col1, col2: (1.0, 'a'), (2.5, NULL)
        """,
    ),
    (
        "no from",
        "SELECT 1 AS one",
        """
        columns one = 1
          values nothing: (0)
        """,
    ),
]


@pytest.mark.parametrize(
    ("text", "drawing"), [each[1:] for each in FORMS], ids=[each[0] for each in FORMS]
)
def test_a_form_is_drawn(text: str, drawing: str) -> None:
    relation = bind_query(parse_query(text), WITH_TIMED).relation
    assert show_relation(relation) == dedent(drawing).strip()
