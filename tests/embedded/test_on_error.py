"""ON ERROR: generated expressions that fail, under all policies, against plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from windrow.errors import DataError, UnsupportedError

MAX = 2**63 - 1
NONE = "no value"
Twin = Callable[[dict[str, Any]], Any]


def fit(value: int) -> Any:
    return value if -MAX - 1 <= value <= MAX else NONE


def whole(text: str) -> Any:
    stripped = text.strip()
    return int(stripped) if stripped.lstrip("-").isdigit() else NONE


# An expression over x (BIGINT), y (BIGINT) and t (text), and what it is of a row without NULL.
EXPRESSIONS: dict[str, Twin] = {
    "x * y": lambda r: fit(r["x"] * r["y"]),
    "x + y": lambda r: fit(r["x"] + r["y"]),
    "x - y": lambda r: fit(r["x"] - r["y"]),
    "-x": lambda r: fit(-r["x"]),
    "x DIV y": lambda r: (
        fit(int(abs(r["x"]) // abs(r["y"])) * (1 if r["x"] * r["y"] >= 0 else -1))
        if r["y"]
        else NONE
    ),
    "CAST(t AS BIGINT)": lambda r: whole(r["t"]),
    "CASE WHEN y <> 0 THEN x DIV y ELSE 7 END": lambda r: (
        EXPRESSIONS["x DIV y"](r) if r["y"] else 7
    ),
}
# Queries of one relation, in blocks and in trees.
SHAPES = {
    "select": "SELECT {e} AS v FROM s [1 DAY]",
    "where": "SELECT x AS v FROM s [1 DAY] WHERE {e} > 0",
    "tree": "SELECT v FROM (SELECT {e} AS v FROM s [1 DAY] ORDER BY x LIMIT 1000) AS q",
    "group": "SELECT {e} AS v, COUNT(*) AS n FROM s [1 DAY] GROUP BY {e}",
    "max": "SELECT k AS v, MAX({e}) AS n FROM s [1 DAY] GROUP BY k",
    "unbounded": "SELECT k AS v, MAX({e}) AS n FROM s GROUP BY k",
    "rows": "SELECT k AS v, MAX({e}) AS n FROM s [ROWS 1000] GROUP BY k",
    "left": "SELECT a.x AS v FROM s [1 DAY] AS a LEFT JOIN z [1 DAY] AS b ON {e} = b.w",
}

numbers = st.sampled_from([0, 1, -1, 3, 2**61, -(2**61), 2**40, MAX, -MAX - 1])
rows_given = st.lists(
    st.fixed_dictionaries(
        {"k": st.integers(0, 1), "x": numbers, "y": numbers, "t": st.sampled_from(["5", "-3", "q"])}
    ),
    max_size=6,
)


def expected(shape: str, twin: Twin, rows: list[dict[str, Any]], policy: str) -> list[tuple]:
    values = [(row, twin(row)) for row in rows]
    if policy == "SET ASIDE":
        values = [(row, value) for row, value in values if value is not NONE]
    values = [(row, None if value is NONE else value) for row, value in values]
    if shape in ("select", "tree"):
        return [(value,) for _, value in values]
    if shape == "where":
        return [(row["x"],) for row, value in values if value is not None and value > 0]
    if shape == "left":
        return [(row["x"],) for row, _ in values]
    if shape == "group":
        different = list(dict.fromkeys(value for _, value in values))
        return [(each, sum(value == each for _, value in values)) for each in different]
    groups = sorted({row["k"] for row, _ in values})
    of = {k: [v for row, v in values if row["k"] == k and v is not None] for k in groups}
    return [(k, max(found, default=None)) for k, found in of.items()]


def second(number: int) -> str:
    return f"2026-01-01 00:00:{number:02}"


def session_of() -> Any:
    session = windrow.connect()
    for name in "sz":
        schema = "ts timestamp, k int, x bigint, y bigint, t string, w bigint"
        session.stream(name, schema, time="ts")
    return session


def given_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"ts": second(place + 1), "w": None, **row} for place, row in enumerate(rows)]


@settings(deadline=None)
@given(
    st.sampled_from(sorted(SHAPES)),
    st.sampled_from(sorted(EXPRESSIONS)),
    rows_given,
    st.booleans(),
)
@pytest.mark.filterwarnings("ignore:query .* (has stopped|keeps every row)")
def test_policies_agree_with_python(
    shape: str, expression: str, rows: list[dict[str, Any]], one_by_one: bool
) -> None:
    session, twin = session_of(), EXPRESSIONS[expression]
    if shape == "left":
        aliased = expression.replace("x", "a.x").replace("y", "a.y").replace("(t ", "(a.t ")
        text = SHAPES[shape].format(e=aliased)
    else:
        text = SHAPES[shape].format(e=expression)
    queries = {
        policy: session.query(f"{text} ON ERROR {policy}")
        for policy in ("NULL", "SET ASIDE", "FAIL")
    }
    given_all = given_rows(rows)
    for part in [[row] for row in given_all] if one_by_one else [given_all]:
        session.push("s", part)
    session.finish()
    for policy in ("NULL", "SET ASIDE"):
        found = [tuple(row.values()) for row in queries[policy].result().to_pylist()]
        assert sorted(found, key=str) == sorted(expected(shape, twin, rows, policy), key=str)
    failing = [row for row in rows if twin(row) is NONE]
    counted, *_ = queries["SET ASIDE"].ledger().to_pylist()
    assert counted["rows_in"] == counted["applied"] + counted["set_aside"] == len(rows)
    inner = sum(row["set_aside"] for row in queries["SET ASIDE"].ledger().to_pylist())
    assert inner == len(failing)
    assert queries["SET ASIDE"].rows_set_aside().num_rows == len(failing)
    assert queries["FAIL"].is_running == (not failing)
    if failing:
        with pytest.raises(DataError, match="WD304"):
            queries["FAIL"].result()


@given(st.lists(st.tuples(numbers, numbers), max_size=8), st.booleans())
def test_a_sum_never_sees_an_overflow_of_its_argument(pairs: list, in_tree: bool) -> None:
    session = session_of()
    inner = "(SELECT x, y FROM s [1 DAY] ORDER BY ts LIMIT 1000) AS q" if in_tree else "s [1 DAY]"
    arguments = {"x * y": lambda x, y: x * y, "x * 4 - y": lambda x, y: x * 4 - y}
    arguments["CASE WHEN x > 0 THEN x + y END"] = lambda x, y: x + y if x > 0 else 0
    items = ", ".join(f"SUM({text}) AS n{place}" for place, text in enumerate(arguments))
    query = session.query(f"SELECT {items} FROM {inner} ON ERROR NULL")
    rows = [{"k": 0, "x": x, "y": y, "t": ""} for x, y in pairs]
    session.push("s", given_rows(rows))
    session.finish()
    (found,) = query.result().to_pylist()
    for place, (text, compute) in enumerate(arguments.items()):
        total = sum(compute(x, y) for x, y in pairs)
        has_rows = any(x > 0 for x, _ in pairs) if "CASE" in text else bool(pairs)
        wanted = total if has_rows and fit(total) is not NONE else None
        assert found[f"n{place}"] == wanted, text


def test_pairs_and_groups_that_are_set_aside_are_counted() -> None:
    session = session_of()
    pairs = session.query(
        "SELECT a.x + b.x AS v FROM s [1 DAY] AS a, z [1 DAY] AS b ON ERROR SET ASIDE"
    )
    groups = session.query("SELECT k, SUM(x) * 2 AS n FROM s [1 DAY] GROUP BY k ON ERROR SET ASIDE")
    session.push("s", [{"ts": second(1), "k": 1, "x": MAX}, {"ts": second(2), "k": 2, "x": 1}])
    session.push("z", [{"ts": second(3), "x": 5}])
    session.finish()
    assert pairs.result().to_pylist() == [{"v": 6}]
    assert groups.result().to_pylist() == [{"k": 2, "n": 2}]
    assert [row["set_aside"] for row in pairs.ledger().to_pylist()] == [0, 0, 1]
    assert groups.ledger().to_pylist()[-1] == {
        "input": "",
        "rows_in": None,
        "applied": None,
        "set_aside": 1,
    }


def test_the_policy_of_a_view_is_its_own() -> None:
    session = session_of()
    session.view("v", "SELECT k, 10 DIV y AS q FROM s [1 DAY] ON ERROR NULL")
    query = session.query("SELECT k, q, 10 DIV (k - 1) AS r FROM v ON ERROR SET ASIDE")
    rows = [{"ts": second(1), "k": 2, "y": 0}, {"ts": second(2), "k": 1, "y": 5}]
    session.push("s", rows)
    session.finish()
    assert query.result().to_pylist() == [{"k": 2, "q": None, "r": 10}]


def test_tried_functions_give_null_for_their_own_error_only() -> None:
    session = session_of()
    text = "SELECT TRY_DIVIDE(x, y) AS a, TRY_ADD(x, 1) AS b, TRY_MOD(x, y) AS c FROM s [1 DAY]"
    query = session.query(text)
    inner = session.query("SELECT TRY_ADD(x DIV y, 1) AS a FROM s [1 DAY]")
    session.push("s", [{"ts": second(1), "x": MAX, "y": 0}])
    with pytest.warns(RuntimeWarning, match="x DIV y has no value"):
        session.finish()
    assert query.result().to_pylist() == [{"a": None, "b": None, "c": None}]
    assert not inner.is_running


def test_what_cannot_be_written_is_refused() -> None:
    session = session_of()
    with pytest.raises(UnsupportedError, match="WU760"):
        session.query("SELECT SUM(x) AS n FROM s [1 DAY] ERROR (1%) ON ERROR NULL")
    with pytest.raises(UnsupportedError, match="WU240"):
        session.query("SELECT * FROM (SELECT x FROM s [1 DAY] EVERY (1 SECOND) ON ERROR NULL) [9]")
