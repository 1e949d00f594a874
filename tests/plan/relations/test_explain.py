"""What EXPLAIN says of a tree: both drawings, the rules between them, and what each node keeps."""

from __future__ import annotations

from textwrap import dedent

import windrow
from support.relation_texts import CATALOG
from windrow.plan.explain_any import explain_any
from windrow.plan.relations.planner import plan_query
from windrow.sql import parse_query


def explained(text: str) -> str:
    return explain_any(plan_query(parse_query(text), CATALOG))


def test_a_tree_is_shown_as_written_and_as_it_runs() -> None:
    text = (
        "SELECT l.k, n FROM (SELECT a.k, COUNT(*) AS n FROM a [9], b [9] AS r "
        "WHERE a.k = r.k AND r.y > 1 GROUP BY a.k) AS l WHERE n > 5 ORDER BY n DESC LIMIT 3"
    )
    expected = """
        tree over 2 windows, 1 fused block
          columns     k INT, n BIGINT
          answers     at every arrival
          rules       push_filters, prune_columns, merge_projections
        as written:
          the first 3 rows by n DESC
            columns a.k, n
              where n > 5
                columns a.k, n = count_star
                  a row for each a.k: count_star = COUNT(*)
                    where a.k = r.k AND r.y > 1
                      join of all pairs
                        a [9 seconds]
                        b [9 seconds] AS r
        as it runs:
          the first 3 rows by n DESC
            (keeps all rows, the first in order; O(1) for most changes, O(log n) amortised)
            columns a.k, n = count_star
              where count_star > 5
                block, a row for each a.k: a.k, count_star = COUNT(*)
                  (factorised, the cheapest: one state per key and input, no joined row is formed)
                  join on a.k = r.k
                    a [9 seconds]
                    b [9 seconds] AS r where r.y > 1
    """
    assert explained(text) == dedent(expected).strip()


def test_a_block_names_its_conditions_between_windows() -> None:
    drawing = explained("SELECT DISTINCT a.k FROM a [9], b [9] WHERE a.k = b.k AND x > y LIMIT 2")
    assert "join on a.k = b.k AND a.x > b.y" in drawing
    assert "block, every different row once: a.k" in drawing


def test_rows_that_are_kept_for_ever_are_named() -> None:
    drawing = explained("SELECT a.k FROM a LEFT JOIN b [9] ON a.k = b.k")
    assert "grows without end: every row of a is kept (UNBOUNDED)" in drawing


def test_a_running_tree_says_what_its_nodes_remember() -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, x int", time="ts")
    query = session.query("SELECT x FROM s [1 MINUTE] ORDER BY x LIMIT 1")
    assert "KB now)" in query.explain()
