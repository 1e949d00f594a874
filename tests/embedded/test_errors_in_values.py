"""No row is lost in silence: random expressions wherever one may stand, against a slow evaluator.

A query stops and names the row and a remedy, or has NULL, or sets the row aside and counts it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from support.failing_expressions import (
    BIGINT,
    DOUBLE,
    Expression,
    NoValueError,
    conditions,
    numbers_of,
    rows,
)
from windrow.errors import DataError

Row = dict[str, Any]
Value = tuple[Row, Any]
MOST = 2**63 - 1
POLICIES = ("FAIL", "NULL", "SET ASIDE")


def known(values: list[Value], k: int) -> list[Any]:
    return [value for row, value in values if row["k"] == k and value is not None]


def keys_of(values: list[Value]) -> list[int]:
    return sorted({row["k"] for row, _ in values})


def per_key(of: Callable[[list[Any]], Any]) -> Callable[[list[Value]], list[tuple[Any, ...]]]:
    return lambda values: [(k, of(known(values, k))) for k in keys_of(values)]


def mean(values: list[int]) -> float | None:
    return float(Fraction(sum(values), len(values))) if values else None


def running(values: list[Value]) -> list[tuple[Any, ...]]:
    """Totals of all rows of the key so far, in the order of time."""
    found = []
    for place, (row, _) in enumerate(values):
        so_far = known([(r, v) for r, v in values[: place + 1]], row["k"])
        found.append((row["n"], sum(so_far) if so_far else None))
    return found


def before(values: list[Value]) -> list[tuple[Any, ...]]:
    found = []
    for place, (row, _) in enumerate(values):
        own = [value for r, value in values[:place] if r["k"] == row["k"]]
        found.append((row["n"], own[-1] if own else None))
    return found


def in_order(each: Value) -> tuple[int, int, int]:
    row, value = each
    return (0, 0, row["n"]) if value is None else (1, value, row["n"])


# Where an expression stands, the query, and what it says of rows with values (NULL is None).
PLACES: dict[str, tuple[str, Callable[[list[Value]], list[tuple[Any, ...]]]]] = {
    "select list": ("SELECT n, {e} AS v FROM s [1 DAY]", lambda vs: [(r["n"], v) for r, v in vs]),
    "select list of a tree": (
        "SELECT n, v FROM (SELECT n, {e} AS v FROM s [1 DAY] ORDER BY n LIMIT 99) AS q",
        lambda vs: [(r["n"], v) for r, v in vs],
    ),
    "GROUP BY": (
        "SELECT {e} AS v, COUNT(*) AS c FROM s [1 DAY] GROUP BY {e}",
        lambda vs: [(v, sum(o == v for _, o in vs)) for v in dict.fromkeys(v for _, v in vs)],
    ),
    "MIN": (
        "SELECT k, MIN({e}) AS v FROM s [1 DAY] GROUP BY k",
        per_key(lambda v: min(v, default=None)),
    ),
    "MAX OVER": (
        "SELECT n, MAX({e}) OVER (PARTITION BY k) AS v FROM s [1 DAY]",
        lambda vs: [(r["n"], max(known(vs, r["k"]), default=None)) for r, _ in vs],
    ),
    "COUNT": ("SELECT k, COUNT({e}) AS v FROM s [1 DAY] GROUP BY k", per_key(len)),
    "COUNT DISTINCT": (
        "SELECT k, COUNT(DISTINCT {e}) AS v FROM s [1 DAY] GROUP BY k",
        per_key(lambda v: len(set(v))),
    ),
    "AVG": ("SELECT k, AVG({e}) AS v FROM s [1 DAY] GROUP BY k", per_key(mean)),
    "HAVING": (
        "SELECT k, 1 AS v FROM s [1 DAY] GROUP BY k HAVING COUNT({e}) > 0",
        lambda vs: [(k, 1) for k in keys_of(vs) if known(vs, k)],
    ),
    "ORDER BY": (
        "SELECT n, 1 AS v FROM s [1 DAY] ORDER BY {e}, n LIMIT 2",
        lambda vs: [(r["n"], 1) for r, _ in sorted(vs, key=in_order)[:2]],
    ),
    "LAG": ("SELECT n, LAG({e}) OVER (PARTITION BY k ORDER BY n) AS v FROM s [1 DAY]", before),
    "IN": (
        "SELECT n, 1 AS v FROM s [1 DAY] WHERE {e} IN (0, 3, 5)",
        lambda vs: [(r["n"], 1) for r, v in vs if v in (0, 3, 5)],
    ),
    "ON": (
        "SELECT s.n, 1 AS v FROM s [1 DAY] JOIN z [1 DAY] ON {e} = z.w",
        lambda vs: [(r["n"], 1) for r, v in vs if v == 3],
    ),
}  # fmt: skip


def run(text: str, given: list[Row], *, one_by_one: bool) -> dict[str, Any]:
    """The queries under each policy, when all rows have been read."""
    session = windrow.connect()
    session.stream(
        "s", "ts timestamp, n int, k int, x bigint, y bigint, d double, t string", time="ts"
    )
    session.stream("z", "ts timestamp, w bigint", time="ts")
    queries = {policy: session.query(f"{text} ON ERROR {policy}") for policy in POLICIES}
    numbered = [{"ts": f"2026-01-01 00:00:{row['n']:02}", **row} for row in given]
    for part in [[row] for row in numbered] if one_by_one else [numbered]:
        session.push("s", part)
    session.push("z", [{"ts": "2026-01-01 00:01:00", "w": 3}])
    session.finish()
    return queries


def valued(given: list[Row], of: Callable[..., Any], policy: str) -> tuple[list[Value], int]:
    """The rows with their values, and how many have none."""
    found: list[Value] = []
    lacking = 0
    for row in given:
        try:
            found.append((row, of(row, tries=policy == "NULL")))
        except NoValueError:
            lacking += 1
    return found, lacking


def same(found: list[tuple[Any, ...]], wanted: list[tuple[Any, ...]]) -> bool:
    """Equal as multisets of rows; NaN is NaN, and zeros are zeros."""
    shown = [sorted(str(tuple(_plain(v) for v in row)) for row in each) for each in (found, wanted)]
    return shown[0] == shown[1]


def _plain(value: Any) -> Any:
    return 0.0 if value == 0 and isinstance(value, float) else value


def told(query: Any) -> str:
    with pytest.raises(DataError) as caught:
        query.result()
    assert caught.value.code in ("WD304", "WD302", "WD303")
    assert caught.value.hint  # the remedy
    return str(caught.value)


def check(text: str, of: Callable[..., Any], say: Any, given: list[Row], one_by_one: bool) -> None:
    given = [{"n": number, **row} for number, row in enumerate(given)]
    queries = run(text, given, one_by_one=one_by_one)
    values, lacking = valued(given, of, "FAIL")
    if lacking:
        assert "no value" in told(queries["FAIL"])
    for policy in POLICIES[bool(lacking) :]:
        values, lacking = valued(given, of, policy)
        found = [tuple(row.values()) for row in queries[policy].result().to_pylist()]
        assert same(found, say(values)), (policy, text)
    counted = queries["SET ASIDE"].ledger().to_pylist()
    assert sum(row["set_aside"] for row in counted) == lacking
    assert queries["SET ASIDE"].rows_set_aside().num_rows == lacking
    (own,) = [row for row in counted if row["input"] == "s"]
    assert own["rows_in"] == len(given) == own["applied"] + own["set_aside"]


@pytest.mark.filterwarnings("ignore:query .* (has stopped|keeps every row)")
@given(st.sampled_from(sorted(PLACES)), numbers_of(BIGINT), rows(), st.booleans())
def test_integers_in_any_place(
    place: str, expression: Expression, given: list[Row], one_by_one: bool
) -> None:
    text, say = PLACES[place]
    check(text.format(e=expression.text), expression.of, say, given, one_by_one)


@pytest.mark.filterwarnings("ignore:query .* (has stopped|keeps every row)")
@given(
    st.sampled_from(["select list", "select list of a tree", "COUNT"]),
    numbers_of(DOUBLE),
    rows(),
    st.booleans(),
)
def test_doubles_with_nan(
    place: str, expression: Expression, given: list[Row], one_by_one: bool
) -> None:
    text, say = PLACES[place]
    check(text.format(e=expression.text), expression.of, say, given, one_by_one)


@pytest.mark.filterwarnings("ignore:query .* (has stopped|keeps every row)")
@given(conditions(2), rows(), st.booleans())
def test_conditions(condition: Expression, given: list[Row], one_by_one: bool) -> None:
    text = f"SELECT n, 1 AS v FROM s [1 DAY] WHERE {condition.text}"
    check(text, condition.of, lambda vs: [(r["n"], 1) for r, v in vs if v], given, one_by_one)


SUMS: dict[str, tuple[str, bool]] = {
    "SUM": ("SELECT k, SUM({e}) AS v FROM s [1 DAY] GROUP BY k", True),
    "SUM of a tree": (
        "SELECT k, SUM({e}) AS v FROM (SELECT * FROM s [1 DAY] ORDER BY n LIMIT 99) AS q "
        "GROUP BY k",
        True,
    ),
    "SUM(DISTINCT) of a tree": (
        "SELECT k, SUM(DISTINCT {e}) AS v FROM (SELECT * FROM s [1 DAY] ORDER BY n LIMIT 99) AS q "
        "GROUP BY k",
        False,
    ),
    "SUM(DISTINCT)": ("SELECT k, SUM(DISTINCT {e}) AS v FROM s [1 DAY] GROUP BY k", False),
}


@pytest.mark.filterwarnings("ignore:query .* (has stopped|keeps every row)")
@given(st.sampled_from(sorted(SUMS)), numbers_of(BIGINT), rows(), st.booleans())
def test_sums(place: str, expression: Expression, given: list[Row], one_by_one: bool) -> None:
    """Totals are exact, or beyond BIGINT, which is an error of the group."""
    text, is_exact = SUMS[place]
    of = expression.exactly if is_exact else expression.of
    given = [{"n": number, **row} for number, row in enumerate(given)]
    queries = run(text.format(e=expression.text), given, one_by_one=one_by_one)
    values, lacking = valued(given, of, "FAIL")
    steps = [totals(values[: place + 1], not is_exact) for place in range(len(values))]
    if lacking or any(
        not fits(v) for step in (steps if one_by_one else steps[-1:]) for v in step.values()
    ):
        told(queries["FAIL"])
    else:
        assert result_of(queries["FAIL"]) == totals(values, not is_exact)
    tried, _ = valued(given, of, "NULL")
    wanted = totals(tried, not is_exact)
    assert result_of(queries["NULL"]) == {k: v if fits(v) else None for k, v in wanted.items()}
    kept, lacking = valued(given, of, "SET ASIDE")
    wanted = totals(kept, not is_exact)
    assert result_of(queries["SET ASIDE"]) == {k: v for k, v in wanted.items() if fits(v)}
    counted = sum(row["set_aside"] for row in queries["SET ASIDE"].ledger().to_pylist())
    steps = [totals(kept[: place + 1], not is_exact) for place in range(len(kept))]
    if all(fits(value) for step in steps for value in step.values()):
        assert counted == lacking
    else:  # groups are counted, too
        assert counted > lacking


def totals(values: list[Value], is_distinct: bool) -> dict[int, int | None]:
    found = {}
    for k in keys_of(values):
        own = known(values, k)
        own = list(set(own)) if is_distinct else own
        found[k] = sum(own) if own else None
    return found


def fits(value: int | None) -> bool:
    return value is None or -MOST - 1 <= value <= MOST


def result_of(query: Any) -> dict[int, Any]:
    return {row["k"]: row["v"] for row in query.result().to_pylist()}


@pytest.mark.filterwarnings("ignore:query .* (has stopped|keeps every row)")
@given(numbers_of(BIGINT), rows(), st.booleans())
def test_sums_over_rows_so_far(expression: Expression, given: list[Row], one_by_one: bool) -> None:
    """SUM OVER: its arguments are of 64 bits, and so are its totals, or they are errors."""
    given = [{"n": number, **row} for number, row in enumerate(given)]
    frame = "PARTITION BY k ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    text = f"SELECT n, SUM({expression.text}) OVER ({frame}) AS v FROM s [1 DAY]"
    queries = run(text, given, one_by_one=one_by_one)
    for policy in POLICIES:
        values, lacking = valued(given, expression.of, policy)
        wanted = running(values)
        if policy == "FAIL" and (lacking or not all(fits(v) for _, v in wanted)):
            told(queries[policy])
            continue
        found = [tuple(row.values()) for row in queries[policy].result().to_pylist()]
        if policy == "SET ASIDE":
            wanted = [(n, v) for n, v in wanted if fits(v)]
        assert same(found, [(n, v if fits(v) else None) for n, v in wanted]), (policy, text)


def test_nan_is_a_value_and_no_error() -> None:
    queries = run("SELECT n, d * 0 AS v FROM s [1 DAY]", [{"n": 0, "d": math.inf}], one_by_one=True)
    (found,) = queries["FAIL"].result().to_pylist()
    assert math.isnan(found["v"])
