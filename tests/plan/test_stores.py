"""What holds the rows of an answer, by update pattern or by name, and how EXPLAIN shows it."""

from __future__ import annotations

import pytest

from windrow.embedded.session import EmbeddedSession
from windrow.errors import BindingError, UnsupportedError
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.explain import explain
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import QueryPlan
from windrow.plan.row_bytes import row_bytes
from windrow.plan.stores import QUEUES, store_of
from windrow.schema import StreamSchema, columns_of
from windrow.sql import parse_query

COLUMNS = columns_of("ts timestamp, k int, l bigint, x double")
CATALOG = Catalog(*(StreamSchema(name, COLUMNS, "ts") for name in "abc"))
WEAK = "SELECT a.x FROM a [60], b [60] WHERE a.k = b.k"
STRICT = "SELECT a.x FROM a [60] LEFT ANTI JOIN b [60] ON a.k = b.k"
WITHOUT_QUEUE = [
    ("SELECT x FROM a", "append-only", "no row ever ends"),
    ("SELECT x FROM a [60]", "fifo", "the window is itself the queue"),
    ("SELECT x FROM a [ROWS 5]", "fifo", "the window is itself the queue"),
    ("SELECT x FROM a [PARTITION BY k ROWS 5]", "fifo", "each partition is itself the queue"),
    ("SELECT COUNT(*) AS n FROM a [60]", "groups", "each group has one row"),
    (STRICT.replace("a.x", "SUM(a.x) AS s"), "groups", "each group has one row"),
]


def plan_of(text: str, store: str = "auto") -> QueryPlan:
    return bind(parse_query(text), CATALOG, store=store)


@pytest.mark.parametrize(("text", "name", "why"), WITHOUT_QUEUE)
def test_queries_without_an_expiry_queue(text: str, name: str, why: str) -> None:
    found = store_of(plan_of(text))
    assert found[0] == name
    assert why in found[1]
    with pytest.raises(UnsupportedError, match=why) as caught:
        plan_of(text, "heap")
    assert caught.value.code == "WU225"


def test_auto_takes_the_wheel() -> None:
    assert store_of(plan_of(WEAK)) == ("wheel", "rows end in order of expiry")
    assert store_of(plan_of(STRICT))[0] == "wheel + key index"
    assert store_of(plan_of("SELECT DISTINCT x FROM a [ROWS 3]"))[0] == "wheel + key index"


@pytest.mark.parametrize("queue", QUEUES)
def test_a_queue_can_be_asked_for(queue: str) -> None:
    plan = plan_of(WEAK, queue)
    assert plan.store == queue
    assert store_of(plan) == (queue, "asked for")
    assert store_of(plan_of(STRICT, queue))[0] == f"{queue} + key index"
    # State is rows: another store goes on from them.
    assert fingerprint(plan) == fingerprint(plan_of(WEAK))


def test_names_that_no_store_has() -> None:
    with pytest.raises(BindingError, match="did you mean branch-ladder") as caught:
        plan_of(WEAK, "branch_ladder")
    assert caught.value.code == "WB254"
    with pytest.raises(BindingError, match="use one of auto, wheel"):
        plan_of(WEAK, "zzz")


def test_a_session_passes_the_name_on() -> None:
    session = EmbeddedSession()
    session.stream("a", "ts timestamp, x double", time="ts")
    with pytest.raises(BindingError, match="did you mean wheel"):
        session.query("SELECT DISTINCT x FROM a [5]", store="weel")
    with pytest.raises(UnsupportedError, match="WU225"):
        session.query("SELECT x FROM a [5]", store="wheel")


def test_a_select_over_a_join_explained() -> None:
    lines = explain(plan_of(WEAK.replace("SELECT", "SELECT DISTINCT"))).splitlines()
    assert lines == [
        "distinct rows over an equi-join of two windows",
        "  input a [1 minute]",
        "    join key  a.k",
        "    memory    about 20 bytes for each row in the window",
        "  input b [1 minute]",
        "    join key  b.k",
        "    memory    about 12 bytes for each row in the window",
        "  columns     x DOUBLE",
        "  answers     at every arrival",
        "  updates     weak: the expiry of a row is known when it appears, and extended by an "
        "equal one",
        "  store       wheel: rows end in order of expiry",
        "  buckets     by (a.k) = (b.k): rows join only with rows of an equal key",
        "  algorithm   join: joined rows are found when a row enters, and kept by their expiry",
        "  algorithm   distinct: of equal rows one is kept, until the last of them ends",
    ]


def test_negations_explained() -> None:
    text = (
        "SELECT a.x FROM a [60] LEFT ANTI JOIN b [60] ON a.k = b.k AND b.x > 1 "
        "AND (a.x < b.x OR a.x > 9) WHERE NOT EXISTS (SELECT 1 FROM c [ROWS 5])"
    )
    plan = plan_of(text)
    lines = explain(plan).splitlines()
    assert lines[0] == "select over one window, two negated"
    assert (
        "  input b [1 minute] negated: rows of a count while no row has "
        "a.k = b.k AND (a.x < b.x OR a.x > 9.0)" in lines
    )
    assert "  input c [last 5 rows] negated: rows count while it has no row" in lines
    assert "    where     b.x > 1.0" in lines
    assert any(line.startswith("  store       wheel + key index: ") for line in lines)
    assert any("rows are retracted when a match arrives in b or c" in line for line in lines)
    assert any(line.startswith("  algorithm   negation: ") for line in lines)
    # Of a: ts, code, x, the key of the match, and the other condition's a.x > 9.
    assert row_bytes(plan, 0) == 12 + 8 * 3


def test_aggregates_over_negations_explained() -> None:
    lines = explain(plan_of(STRICT.replace("a.x", "SUM(a.x) AS s"))).splitlines()
    assert lines[0] == "aggregate over one window, one negated"
    assert any(line.startswith("  algorithm   incremental: ") for line in lines)
    joined = explain(
        plan_of(
            "SELECT MAX(a.x) AS m FROM a [60], c [60] WHERE a.k = c.k AND NOT EXISTS "
            "(SELECT 1 FROM b [60] WHERE b.k = a.k)"
        )
    )
    assert "aggregate over an equi-join of two windows, one negated" in joined
    assert "algorithm   pipelined, the cheapest" in joined
    assert "rows of a are retracted while b has a match" in joined
