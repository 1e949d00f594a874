"""Every rule gives a relation with the same rows: before and after it, by the slow twin."""

from __future__ import annotations

import math
from collections import Counter
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import pytest

from support.slow_relations import SlowRelations
from support.streams import CATALOG, Push
from support.tree_forms import CLOSING_FORMS, TREE_FORMS, WINDOW_FORMS
from support.tree_queries import random_tree
from support.tree_rows import tree_actions
from windrow.plan.relations.algebra import AnswerWindow, Field, Relation, walk_relations
from windrow.plan.relations.binder import bind_query
from windrow.plan.relations.rules.pipeline import RELATION_RULES, RelationRule, rewritten_relation
from windrow.sql import parse_query

# Seven streams in a row are too many for a twin that forms all combinations.
TEXTS = [text for text in (*TREE_FORMS, *WINDOW_FORMS) if "x6" not in text]
# What a rule is for, where the forms have little of it.
MORE = {
    "pull_up_bounds": CLOSING_FORMS,
    "read_session_ends": [text for text in CLOSING_FORMS if "SESSION" in text],
    "split_anti_joins": [
        "SELECT k, l FROM a [9] WHERE k NOT IN (SELECT k FROM b [9])",
        "SELECT k, l FROM a [9] WHERE (k, l) NOT IN (SELECT k, l FROM b [9])",
        "SELECT k, l FROM a [9] WHERE l NOT IN (SELECT l FROM b [9] WHERE b.k = a.k)",
        "SELECT k, l FROM a [9] LEFT ANTI JOIN b [9] ON a.k = b.k OR a.l < b.l",
        "SELECT k FROM a [9] WHERE k NOT IN (SELECT k FROM b [9] WHERE FALSE)",
    ],
    "anti_joins": [
        "SELECT a.k, a.l, b.s FROM a [9] LEFT JOIN b [9] ON a.k = b.k WHERE b.k IS NULL",
        "SELECT a.k, b.l FROM a [9] LEFT JOIN b [9] ON a.k = b.k AND a.l < b.l"
        " WHERE b.l IS NULL AND a.l > 0 AND COALESCE(b.k, 3) > 1",
        "SELECT COUNT(*) AS n FROM a [9] LEFT JOIN b [9] ON a.l = b.k WHERE b.k IS NULL",
        "SELECT a.k FROM a [9] LEFT JOIN b [9] ON a.k = b.k WHERE b.l IS NULL",
    ],
    "hold_between": [
        "SELECT k, l FROM a [9] WHERE ts > now() - INTERVAL '2' SECOND AND l > 0",
        "SELECT k FROM a [9] WHERE now() - ts >= INTERVAL '1' SECOND",
        "SELECT a.k, b.l FROM a [9] JOIN b [9] ON a.k = b.k"
        " WHERE a.ts >= now() - INTERVAL '3' SECOND AND now() < b.ts + INTERVAL '1' SECOND",
        "SELECT k, COUNT(*) AS n FROM a [9] WHERE ts + INTERVAL '1' SECOND < now() GROUP BY k",
    ],
    "push_filters": [
        "SELECT k, x FROM a [9], UNNEST(ARRAY(k, l, NULL)) AS t (x) WHERE x > 1 AND l > 0",
        "SELECT a.k, x FROM a [9] JOIN b [9] ON a.k = b.k, UNNEST(ARRAY(a.l, b.l)) AS t (x)"
        " WHERE a.l > 1 AND x > b.l",
    ],
    "prune_columns": [
        "SELECT x, COUNT(*) AS n FROM a [9], UNNEST(ARRAY(k, l)) AS t (x) GROUP BY x",
        "SELECT k FROM a [9] LEFT JOIN UNNEST(ARRAY(k)) WITH ORDINALITY AS t (x, o) ON TRUE",
    ],
    "order_joins": [
        "SELECT a.s, c.l FROM a [9], b [9], c [9] WHERE a.k = c.k AND c.l = b.l",
        "SELECT COUNT(*) AS n FROM a [9] JOIN b [9] ON a.l < b.l JOIN c [9] ON a.k = c.k",
        "SELECT * FROM (SELECT a.k, b.s FROM a [9], b [9]) AS q, c [9] WHERE q.k = c.k",
    ],
    "limit_row_numbers": [
        "SELECT k, l FROM a [9] QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY l, k) < 3",
        "SELECT k, l FROM a [9] QUALIFY 2 >= ROW_NUMBER() OVER (ORDER BY l DESC, k) AND k = 1",
        "SELECT k, l FROM a [9] QUALIFY ROW_NUMBER() OVER (ORDER BY l, k) = 2",
        "SELECT k, l FROM a [9] QUALIFY ROW_NUMBER() OVER (ORDER BY l, k) < 0",
    ],
    "aggregate_left_joins": [
        "SELECT a.k, COUNT(*) AS n, COUNT(b.l) AS m, SUM(b.l) AS t, MIN(b.s) AS s, MAX(a.l) AS x"
        " FROM a [9] LEFT JOIN b [9] ON a.k = b.k GROUP BY a.k",
        "SELECT COUNT(*) AS n, SUM(a.l) AS t, SUM(b.l) AS u"
        " FROM a [9] LEFT JOIN b [9] ON a.s = b.s",
        "SELECT a.s, AVG(b.d) AS m FROM a [9] LEFT JOIN b [9] ON a.k = b.k AND b.o GROUP BY a.s",
        "SELECT a.k, BOOL_OR(b.o) AS w, COUNT(DISTINCT b.s) AS n"
        " FROM a [9] LEFT JOIN b [9] ON a.k = b.k GROUP BY a.k",
        "SELECT a.k, SUM(a.l + b.l) AS t FROM a [9] LEFT JOIN b [9] ON a.k = b.k GROUP BY a.k",
        "SELECT b.k, COUNT(*) AS n FROM a [9] LEFT JOIN b [9] ON a.k = b.k GROUP BY b.k",
    ],
    "aggregate_parts_of_unions": [
        "SELECT k, COUNT(*) AS n, SUM(l) AS t, MIN(l) AS m FROM (SELECT a.k, b.l FROM a [9]"
        " LEFT JOIN b [9] ON a.k = b.k UNION ALL SELECT k, l FROM c [9]) AS u GROUP BY k",
        "SELECT k, s, COUNT(*) AS n, SUM(l) AS t FROM (SELECT 'a' AS s, k, l FROM a [9]"
        " UNION ALL SELECT 'b', k, l FROM b [9]) AS u GROUP BY k, s",
        "SELECT COUNT(l) AS n, MAX(s) AS m, AVG(l) AS a FROM"
        " (SELECT l, s FROM a [9] UNION ALL SELECT l, s FROM b [9] WHERE FALSE) AS u",
        "SELECT COUNT(DISTINCT l) AS n, BOOL_AND(l > 0) AS w FROM"
        " (SELECT l FROM a [9] UNION ALL SELECT l FROM c [9]) AS u",
    ],
}


@cache
def held(seed: int) -> dict[str, list[dict[str, Any]]]:
    """A few rows of each stream."""
    found: dict[str, list[dict[str, Any]]] = {"a": [], "b": [], "c": []}
    for action in tree_actions(seed, rows=18, streams="abc"):
        if isinstance(action, Push):
            found[action.stream] += action.rows
    return {name: rows[:6] for name, rows in found.items()}


@cache
def bound(text: str) -> Relation | None:
    """The relation of a query; None where it has answers of others, which have no rows here."""
    relation = bind_query(parse_query(text), CATALOG).relation
    nodes = walk_relations(relation)
    return None if any(isinstance(node, AnswerWindow) for node in nodes) else relation


def counted(
    relation: Relation, fields: tuple[Field, ...], seed: int, *, is_dated: bool
) -> Counter[tuple[Any, ...]]:
    rows = SlowRelations(held(seed), at=now(seed) if is_dated else None).rows(relation)
    return Counter(tuple(_plain(row[field.id]) for field in fields) for row in rows)


def now(seed: int) -> datetime:
    """An instant at which some rows are in windows, and others have left them."""
    times = sorted(row["ts"] for rows in held(seed).values() for row in rows)
    late: datetime = times[len(times) * 2 // 3] + timedelta(milliseconds=seed % 3 * 500)
    return late


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else round(value, 9) + 0.0
    return value


def check(rule: RelationRule, texts: list[str], seed: int, fewest: int) -> None:
    """The rule, after those before it, changes no row of any query; it changes some queries."""
    changed = 0
    place = RELATION_RULES.index(rule)
    for number, text in enumerate(texts):
        relation = bound(text)
        if relation is None:
            continue
        before = rewritten_relation(relation, RELATION_RULES[:place])
        after = rule(before)
        if after != before:
            changed += 1
            own = seed + number
            fields = before.fields
            is_dated = rule.__name__ == "hold_between"
            wanted = counted(before, fields, own, is_dated=is_dated)
            assert counted(after, fields, own, is_dated=is_dated) == wanted, text
    assert changed >= fewest, f"{rule.__name__} changed {changed} queries"


# What these change depends on the instant, which the slow twin of one instant does not have.
OF_INSTANTS = ("pull_up_bounds", "read_session_ends")


@pytest.mark.parametrize("rule", RELATION_RULES, ids=lambda rule: rule.__name__)
def test_a_rule_changes_no_row(rule: RelationRule) -> None:
    texts = [*MORE.get(rule.__name__, []), *TEXTS[::2]]
    check(rule, texts, seed=1, fewest=0 if rule.__name__ in OF_INSTANTS else 2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rule", RELATION_RULES, ids=lambda rule: rule.__name__)
def test_a_rule_changes_no_row_of_random_trees(rule: RelationRule, seed: int) -> None:
    trees = [random_tree(3000 + 100 * seed + i, depth=2) for i in range(60)]
    fewest = 0 if rule.__name__ in OF_INSTANTS else 2
    check(rule, [*MORE.get(rule.__name__, []), *TEXTS, *trees], seed * 1000, fewest)
