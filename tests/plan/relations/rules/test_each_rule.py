"""Each rule keeps the rows of a relation: the slow twin before it and after it, on all forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from support.relation_texts import CATALOG, HELD, QUERIES
from support.slow_relations import SeveralRowsError, same, slow_rows
from windrow.plan.relations.algebra import Relation
from windrow.plan.relations.binder import bind_query
from windrow.plan.relations.rules.pipeline import RELATION_RULES, rules_that_change
from windrow.sql import parse_query

Held = Mapping[str, Sequence[Mapping[str, Any]]]


@pytest.mark.parametrize("text", QUERIES)
def test_the_same_rows_before_and_after(text: str) -> None:
    relation = bind_query(parse_query(text), CATALOG).relation
    columns = [field.id for field in relation.fields]
    try:
        expected = counted(relation, columns)
    except SeveralRowsError:
        return
    for rule in RELATION_RULES:
        relation = rule(relation)
        assert counted(relation, columns) == expected, rule.__name__


def test_every_rule_changes_some_query() -> None:
    relations = [bind_query(parse_query(text), CATALOG).relation for text in QUERIES]
    found = {name for relation in relations for name in rules_that_change(relation)}
    assert [rule.__name__ for rule in RELATION_RULES if rule.__name__ not in found] == []


def counted(relation: Relation, columns: Sequence[str]) -> Counter[tuple[Any, ...]]:
    """The rows, their values in the order of these columns; doubles to nine digits."""
    places = [[field.id for field in relation.fields].index(each) for each in columns]
    rows = slow_rows(relation, HELD)
    return Counter(tuple(_plain(row[place]) for place in places) for row in rows)


def _plain(value: Any) -> Any:
    value = same(value)
    return round(value, 9) if isinstance(value, float) else value
