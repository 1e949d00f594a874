"""What a bound query says beside its relation: outputs, order and service clauses; and its form."""

from __future__ import annotations

import pytest

from support.relation_texts import CATALOG, QUERIES
from support.well_formed import check_well_formed
from windrow.plan.catalog import Catalog, View
from windrow.plan.relations.algebra import AnswerWindow, Scan, TopRows, walk_relations
from windrow.plan.relations.binder import bind_query
from windrow.plan.relations.bound_query import BoundQuery
from windrow.sql import parse_query


def bound(text: str, catalog: Catalog = CATALOG) -> BoundQuery:
    return bind_query(parse_query(text), catalog)


def names(text: str) -> list[str]:
    return [field.name for field in bound(text).outputs]


def types(text: str) -> list[str]:
    return [str(field.type) for field in bound(text).outputs]


@pytest.mark.parametrize("text", QUERIES)
def test_every_tree_is_well_formed(text: str) -> None:
    query = bound(text)
    check_well_formed(query.relation)
    shown = query.relation.fields[: len(query.outputs)]
    assert [field.id for field in query.outputs] == [field.id for field in shown]


def test_equal_names_are_numbered() -> None:
    assert names("SELECT k, k, x AS K FROM a [9]") == ["k", "k_2", "K_3"]
    assert names("SELECT k, k, x AS k_2 FROM a [9]") == ["k", "k_3", "k_2"]
    both = names("SELECT * FROM a [9] JOIN b [9] USING (k)")
    assert both == ["k", "x", "s", "p", "f", "ts", "y", "s_2", "flag", "ts_2"]


def test_items_without_a_name_have_their_text() -> None:
    text = "SELECT COUNT(*), (SELECT MAX(y) FROM b [9]) + 1, a.k FROM a [9] GROUP BY k"
    assert names(text) == ["count(*)", "subquery + 1", "k"]
    assert names("VALUES (1, 'a')") == ["col1", "col2"]


def test_order_is_kept_with_what_it_needs() -> None:
    query = bound("SELECT k FROM a [9] ORDER BY x DESC, k")
    assert [field.name for field in query.relation.fields] == ["k", "order"]
    assert [(key.is_descending, key.nulls_first) for key in query.order] == [
        (True, False),
        (False, True),
    ]
    cut = bound("SELECT k FROM a [9] ORDER BY k NULLS LAST LIMIT 2")
    assert isinstance(cut.relation, TopRows)
    assert cut.order == cut.relation.order
    assert not cut.order[0].nulls_first


def test_service_clauses() -> None:
    query = bound("SELECT k FROM busy WHERE n > 1 EVERY (5 SECONDS)")
    assert (query.every_us, query.error_percent, query.duration) == (5_000_000, None, None)
    assert query.text.startswith("SELECT k FROM busy")


def test_types_meet() -> None:
    assert types("SELECT k FROM a [9] UNION SELECT y FROM b [9]") == ["BIGINT"]
    assert types("SELECT NULL AS n UNION SELECT x FROM a [9] UNION SELECT NULL") == ["BIGINT"]
    assert types("SELECT '2026-01-01' AS t UNION SELECT ts FROM a [9]") == ["TIMESTAMP"]
    assert types("VALUES (1, NULL), (2.5, 'a'), (NULL, NULL)") == ["DECIMAL(11, 1)", "STRING"]
    assert types("SELECT t + 1 AS u FROM (SELECT SUM(p) AS t FROM a [9]) AS q") == [
        "DECIMAL(29, 2)"
    ]
    assert types("SELECT MAX(s), COUNT(*), SUM(x), AVG(x) FROM a [9]") == [
        "STRING",
        "BIGINT",
        "BIGINT",
        "DOUBLE",
    ]


def test_names_in_from_are_common_tables_then_views_then_streams() -> None:
    text = "WITH busy AS (SELECT x FROM a [9]), a AS (SELECT name FROM c [9]) SELECT * FROM busy, a"
    assert names(text) == ["x", "name"]
    assert names("WITH a AS (SELECT x FROM a [9]) SELECT * FROM a") == ["x"]


def test_the_answers_of_a_view_are_timed_by_at() -> None:
    text = "SELECT k, COUNT(*) AS n FROM a [9] GROUP BY k EVERY (5 SECONDS)"
    catalog = CATALOG.with_view(View("v", parse_query(text), text))
    query = bound("SELECT at AS t, n FROM v [1 MINUTE]", catalog)
    (node,) = [each for each in walk_relations(query.relation) if isinstance(each, AnswerWindow)]
    assert (node.every_us, node.window.length_us, node.time.name) == (5_000_000, 60_000_000, "at")
    same = bound(f"SELECT at AS t, n FROM ({text}) [1 MINUTE] AS v", CATALOG)
    assert [str(field.type) for field in same.outputs] == ["TIMESTAMP", "BIGINT"]
    check_well_formed(same.relation)


def test_a_view_is_bound_anew_each_time() -> None:
    query = bound("SELECT 1 AS one FROM busy AS l JOIN busy AS r ON l.k = r.k")
    scans = [each for each in walk_relations(query.relation) if isinstance(each, Scan)]
    assert len(scans) == 2
    assert scans[0] != scans[1]
