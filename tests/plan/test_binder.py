"""What queries are bound to: inputs, keys, filters, groups, aggregates, names and types."""

from __future__ import annotations

from decimal import Decimal

import pytest

from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.expressions import AggregateRef, Call, ColumnRef, GroupRef, Literal, walk
from windrow.plan.model import Aggregate, QueryPlan, WindowSpec
from windrow.schema import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    StreamSchema,
    columns_of,
    decimal,
)
from windrow.sql import parse_query

TEMP = StreamSchema(
    "temp",
    columns_of(
        "location string, ts timestamp, celsius double, n int, t tinyint, "
        "price decimal(10, 2), fine decimal(18, 6), flag boolean, single float"
    ),
    "ts",
)
SMOKE = StreamSchema(
    "smoke", columns_of("location string, ts timestamp, strength double, k bigint"), "ts"
)
CATALOG = Catalog(TEMP).with_stream(SMOKE)
ALARMS = """
    SELECT temp.location, COUNT(*) AS n
    FROM temp [10 MINUTES], smoke [5 MINUTES]
    WHERE temp.location = smoke.location AND temp.celsius >= 40 AND smoke.strength > 0.6
    GROUP BY temp.location HAVING COUNT(*) > 5
    EVERY (5 SECONDS)"""
JOIN = "FROM temp [10 MINUTES] AS a JOIN smoke [ROWS 5] AS b"


def plan_of(text: str) -> QueryPlan:
    return bind(parse_query(text), CATALOG)


def type_of(expression: str) -> str:
    return str(plan_of(f"SELECT {expression} AS x FROM temp [5]").select[0].type)


def test_the_alarm_query() -> None:
    plan = plan_of(ALARMS)
    temp, smoke = plan.inputs
    assert (plan.kind, plan.algorithm, plan.every_us) == ("aggregate", "auto", 5_000_000)
    assert temp.window == WindowSpec("time", 600_000_000)
    assert smoke.window == WindowSpec("time", 300_000_000)
    assert temp.keys == (ColumnRef(0, "location", STRING),)
    assert smoke.keys == (ColumnRef(1, "location", STRING),)
    celsius = ColumnRef(0, "celsius", DOUBLE)
    assert temp.filter == Call(">=", (celsius, Literal(40.0, DOUBLE)), BOOLEAN)
    assert plan.group_by == (ColumnRef(0, "location", STRING),)
    assert (plan.group_sources, plan.group_keys) == ((0,), (0,))
    assert plan.aggregates == (Aggregate("count_star", None, None, BIGINT),)
    assert plan.having == Call(">", (AggregateRef(0, BIGINT), Literal(5, BIGINT)), BOOLEAN)
    assert [column.expression for column in plan.select] == [
        GroupRef(0, STRING),
        AggregateRef(0, BIGINT),
    ]
    assert plan.streams == ("temp", "smoke")


def test_select_over_one_input_takes_any_window() -> None:
    for window in ("", "[UNBOUNDED]", "[5]", "[ROWS 3]", "[RANGE 10 SLIDE 5]"):
        plan = plan_of(f"SELECT * FROM temp {window} WHERE n > 1")
        assert (plan.kind, plan.algorithm) == ("select", "scan")
        assert [column.name for column in plan.select] == [column.name for column in TEMP.columns]
    partitioned = plan_of("SELECT t.* FROM temp [PARTITION BY Location ROWS 3] AS t")
    assert partitioned.inputs[0].window.partition_by == (ColumnRef(0, "location", STRING),)


def test_names_are_found_whatever_their_case() -> None:
    plan = plan_of("SELECT X.LOCATION, Celsius FROM TEMP [5] AS x")
    assert [part.expression for part in plan.select] == [
        ColumnRef(0, "location", STRING),
        ColumnRef(0, "celsius", DOUBLE),
    ]
    assert plan.inputs[0].stream is TEMP


def test_output_names() -> None:
    plan = plan_of(
        "SELECT COUNT(*), sum(a.n), SUM(a.n * 2) / COUNT(*) + 1, avg(a.celsius) AS mean "
        f"{JOIN} ON a.location = b.location"
    )
    names = [column.name for column in plan.select]
    assert names == ["count(*)", "sum(n)", "sum(n * 2) / count(*) + 1", "mean"]


def test_conditions_go_where_they_can_be_decided() -> None:
    plan = plan_of(
        f"SELECT COUNT(*) {JOIN} ON b.location = a.location AND a.n > 1 "
        "WHERE 1 = 0 AND (b.k > 2 AND (a.n = b.k)) AND a.location = b.location AND a.n > 1"
    )
    a, b = plan.inputs
    assert a.keys == (
        ColumnRef(0, "location", STRING),
        Call("cast", (ColumnRef(0, "n", INT),), BIGINT),
    )
    assert b.keys == (ColumnRef(1, "location", STRING), ColumnRef(1, "k", BIGINT))
    for entry, own in ((a, "n"), (b, "k")):
        assert entry.filter is not None
        parts = list(walk(entry.filter))
        assert {part.column for part in parts if isinstance(part, ColumnRef)} == {own}
        assert Call("=", (Literal(1, INT), Literal(0, INT)), BOOLEAN) in parts


def test_constants_true_and_false_are_conditions() -> None:
    plan = plan_of("SELECT n FROM temp WHERE FALSE")
    assert plan.inputs[0].filter == Literal(False, BOOLEAN)


def test_a_self_join_under_two_names() -> None:
    plan = plan_of("SELECT COUNT(*) FROM temp [5] AS a, temp [ROWS 9] AS b WHERE a.n = b.n")
    assert plan.streams == ("temp",)
    assert [entry.alias for entry in plan.inputs] == ["a", "b"]
    assert plan.inputs[1].keys == (ColumnRef(1, "n", INT),)


def test_groups_that_are_join_keys() -> None:
    plan = plan_of(
        f"SELECT COUNT(*) {JOIN} ON a.n = b.k AND a.location = b.location "
        "GROUP BY b.location, a.n, b.k, a.price, 'x', upper(a.location), b.location"
    )
    # a.n is cast to be compared with b.k, so its value is not that of the key.
    assert plan.group_keys == (1, None, 0, None, None, None)
    assert plan.group_sources == (1, 0, 1, 0, None, 0)


def test_group_by_an_expression_and_its_name() -> None:
    plan = plan_of(
        "SELECT upper(location) AS place, length(upper(location)) AS size, COUNT(*) AS c "
        "FROM temp [5] GROUP BY place HAVING c > 1 AND place <> 'A'"
    )
    assert [column.expression for column in plan.select] == [
        GroupRef(0, STRING),
        Call("length", (GroupRef(0, STRING),), INT),
        AggregateRef(0, BIGINT),
    ]
    assert plan.having is not None
    assert {type(part) for part in walk(plan.having)} >= {GroupRef, AggregateRef}


def test_equal_aggregates_are_computed_once() -> None:
    plan = plan_of("SELECT SUM(n) / COUNT(*) AS a, SUM(N) AS b, COUNT(1) AS c FROM temp [5]")
    assert [part.function for part in plan.aggregates] == ["sum", "count_star"]


def test_aggregates_of_constants_read_the_first_input() -> None:
    plan = plan_of("SELECT SUM(1), COUNT(NULL) FROM temp [5]")
    assert [part.source for part in plan.aggregates] == [0, 0]


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("n + 1", "BIGINT"),
        ("t * t", "BIGINT"),
        ("n / 2", "DOUBLE"),
        ("n % 2", "BIGINT"),
        ("celsius + n", "DOUBLE"),
        ("single + single", "DOUBLE"),
        ("price + 1", "DECIMAL(11, 2)"),
        ("price + n", "DECIMAL(13, 2)"),
        ("price + fine", "DOUBLE"),
        ("price * 1.05", "DECIMAL(13, 4)"),
        ("price * n", "DOUBLE"),
        ("-(-2147483648)", "BIGINT"),
        ("price / 2", "DECIMAL(14, 6)"),
        ("price / price", "DECIMAL(18, 8)"),
        ("price / n", "DECIMAL(18, 10)"),
        ("n / price", "DECIMAL(18, 6)"),
        ("fine / fine", "DECIMAL(18, 6)"),
        ("price / 2e0", "DOUBLE"),
        ("price % 0.125", "DECIMAL(3, 3)"),
        ("price % fine", "DECIMAL(14, 6)"),
        ("n % price", "DECIMAL(10, 2)"),
        ("SUM(price) / COUNT(*)", "DECIMAL(38, 12)"),
        ("-price", "DECIMAL(10, 2)"),
        ("abs(t)", "BIGINT"),
        ("ceil(celsius)", "BIGINT"),
        ("round(price, 1)", "DECIMAL(10, 1)"),
        ("round(celsius, 1)", "DOUBLE"),
        ("length(location)", "INT"),
        ("CASE WHEN flag THEN n ELSE 1.5 END", "DECIMAL(11, 1)"),
        ("coalesce(n, celsius)", "DOUBLE"),
        ("coalesce(price, n)", "DECIMAL(12, 2)"),
        ("coalesce(price, CAST(n AS BIGINT))", "DOUBLE"),
        ("CASE WHEN flag THEN fine ELSE 12345678901234567 END", "DOUBLE"),
        ("IF(flag, fine, price)", "DECIMAL(18, 6)"),
        ("greatest(SUM(price), SUM(n))", "DECIMAL(28, 2)"),
        ("NULL", "STRING"),
        ("NULL + n", "BIGINT"),
        ("1.50", "DECIMAL(3, 2)"),
        ("1e3", "DOUBLE"),
        ("-9223372036854775808", "BIGINT"),
        ("CAST(ts AS DATE)", "DATE"),
        ("TIMESTAMP '2026-01-01 00:00:00'", "TIMESTAMP"),
        ("COUNT(n)", "BIGINT"),
        ("SUM(t)", "BIGINT"),
        ("SUM(price)", "DECIMAL(28, 2)"),
        ("SUM(fine) + SUM(price)", "DECIMAL(37, 6)"),
        ("SUM(single)", "DOUBLE"),
        ("AVG(price)", "DOUBLE"),
        ("AVG(n)", "DOUBLE"),
        ("CAST(SUM(price) AS DECIMAL(18, 4))", "DECIMAL(18, 4)"),
        ("MAX(t)", "TINYINT"),
        ("MIN(price)", "DECIMAL(10, 2)"),
        ("MIN(ts)", "TIMESTAMP"),
        ("MAX(CAST(ts AS DATE))", "DATE"),
        ("MAX(flag)", "BOOLEAN"),
        ("MIN(NULL)", "DOUBLE"),
        ("COUNT(DISTINCT location)", "BIGINT"),
        ("STDDEV(price)", "DOUBLE"),
        ("VAR_POP(n)", "DOUBLE"),
        ("n - NULL", "BIGINT"),
        ("NULL * NULL", "DOUBLE"),
    ],
)
def test_types(expression: str, kind: str) -> None:
    assert type_of(expression) == kind


def test_literals_take_the_type_of_what_they_meet() -> None:
    def right(condition: str) -> Literal:
        comparison = plan_of(f"SELECT n FROM temp WHERE {condition}").inputs[0].filter
        assert isinstance(comparison, Call)
        assert isinstance(comparison.arguments[0], ColumnRef), "the column is not cast"
        literal = comparison.arguments[1]
        assert isinstance(literal, Literal)
        return literal

    assert right("celsius >= 40") == Literal(40.0, DOUBLE)
    assert right("celsius > 0.6") == Literal(0.6, DOUBLE)
    assert right("t = 5").type.name == "TINYINT"
    assert right("price = 5") == Literal(Decimal("5.00"), decimal(10, 2))
    assert right("ts > '1970-01-01 00:00:01'") == Literal(1_000_000, TIMESTAMP)
    assert right("ts > DATE '1970-01-02'") == Literal(86_400_000_000, TIMESTAMP)


def test_a_long_chain_of_conditions_stays_shallow() -> None:
    chain = " AND ".join(f"n <> {i}" for i in range(100))
    condition = plan_of(f"SELECT n FROM temp WHERE {chain}").inputs[0].filter
    depth, level = 0, [condition]
    while level:
        depth += 1
        level = [part for node in level if isinstance(node, Call) for part in node.arguments]
    assert depth <= 10
