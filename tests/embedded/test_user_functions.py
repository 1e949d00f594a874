"""Functions of users in queries: they mean what the same expression means, wherever they stand."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from support.query_forms import PUSHES
from support.sessions import session_of
from support.streams import batch_of
from windrow.embedded import EmbeddedSession
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import QueryPlan
from windrow.plan.serialise import plan_from_json, plan_to_json
from windrow.plan.user_functions import known_functions, user_function
from windrow.rows.evaluate import evaluate_checked
from windrow.rows.user_calls import call_user

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)

# With functions, and without: both are run over the same rows.
PAIRS = [
    ("SELECT SUM(twice(k)) AS t FROM a [3 SECONDS]", "SELECT SUM(k + k) AS t FROM a [3 SECONDS]"),
    (
        "SELECT half(k) AS h, COUNT(*) AS n FROM a [3 SECONDS] WHERE is_even(k) GROUP BY half(k)",
        "SELECT k / 2 AS h, COUNT(*) AS n FROM a [3 SECONDS] WHERE k % 2 = 0 GROUP BY k / 2",
    ),
    (
        "SELECT k, twice(COUNT(*)) AS n FROM a [4 SECONDS] GROUP BY k HAVING is_even(COUNT(*))",
        "SELECT k, 2 * COUNT(*) AS n FROM a [4 SECONDS] GROUP BY k HAVING COUNT(*) % 2 = 0",
    ),
    (
        "SELECT COUNT(*) AS n FROM a [4 SECONDS], b [3 SECONDS] WHERE twice(a.k) = twice(b.k)",
        "SELECT COUNT(*) AS n FROM a [4 SECONDS], b [3 SECONDS] WHERE a.k = b.k",
    ),
    (
        "SELECT COUNT(*) AS n FROM a [4 SECONDS], b [3 SECONDS] WHERE a.s = b.s AND less(a.k, b.k)",
        "SELECT COUNT(*) AS n FROM a [4 SECONDS], b [3 SECONDS] WHERE a.s = b.s AND a.k < b.k",
    ),
    (
        "SELECT m, COUNT(*) AS n FROM (SELECT k, MAX(twice(k)) AS m FROM a [3 SECONDS] GROUP BY k)"
        " AS q GROUP BY m",
        "SELECT m, COUNT(*) AS n FROM (SELECT k, MAX(2 * k) AS m FROM a [3 SECONDS] GROUP BY k)"
        " AS q GROUP BY m",
    ),
    (
        "SELECT a.k, b.k AS o FROM a [3 SECONDS] LEFT JOIN b [2 SECONDS] ON twice(a.k) = b.k",
        "SELECT a.k, b.k AS o FROM a [3 SECONDS] LEFT JOIN b [2 SECONDS] ON 2 * a.k = b.k",
    ),
    ("SELECT upper_of(s) AS u FROM a [3 SECONDS]", "SELECT UPPER(s) AS u FROM a [3 SECONDS]"),
]


def with_functions() -> EmbeddedSession:
    session = session_of()

    def of(function: Any) -> Any:
        return lambda *values: None if None in values else function(*values)

    session.function("twice", of(lambda x: 2 * x), returns="bigint", takes="bigint")
    session.function("half", of(lambda x: x / 2), returns="double")
    session.function("is_even", of(lambda x: x % 2 == 0), returns="boolean")
    session.function("less", of(lambda x, y: x < y), returns="boolean")
    session.function("upper_of", pc.utf8_upper, returns="string", takes=["string"], vectorised=True)
    return session


@pytest.mark.parametrize("pair", PAIRS)
def test_a_function_means_what_the_same_expression_means(pair: tuple[str, str]) -> None:
    session = with_functions()
    given, plain = (session.query(text) for text in pair)
    for push in PUSHES:
        session.push(push.stream, batch_of(push.stream, push.rows))
    session.finish()
    assert given.answers().equals(plain.answers())
    assert given.changes().equals(plain.changes())
    assert given.result().equals(plain.result())


def test_views_questions_and_explanations_know_functions() -> None:
    session = with_functions()
    session.view("doubled", "SELECT k, MAX(twice(k)) AS m FROM a [1 MINUTE] GROUP BY k")
    most = session.query("SELECT MAX(m) AS m FROM doubled")
    rows = session.query("SELECT k, ts FROM a [1 MINUTE]")
    session.push("a", batch_of("a", ({"ts": MOMENT, "k": 4},)))
    session.finish()
    assert most.result()["m"].to_pylist() == [8]
    assert session.ask("SELECT SUM(twice(k)) AS t FROM a [1 MINUTE]")["t"].to_pylist() == [8]
    text = session.query("SELECT SUM(twice(k)) AS t FROM a [1 MINUTE]").explain()
    assert "TWICE(" in text
    assert rows.is_running


def test_sessions_with_different_functions_of_one_name_do_not_mix() -> None:
    results = []
    for factor in (2, 3):
        session = session_of()
        session.function("times", lambda x, by=factor: x * by, returns="bigint", takes="bigint")
        query = session.query("SELECT SUM(times(k)) AS t FROM a [1 MINUTE]")
        session.push("a", batch_of("a", ({"ts": MOMENT, "k": 5},)))
        session.finish()
        results += query.result()["t"].to_pylist()
    assert results == [10, 15]


# ---- one call


@given(st.lists(st.none() | st.integers(-3, 3)), st.booleans())
def test_rows_for_which_a_function_raises_are_faults(
    values: list[int | None], is_vectorised: bool
) -> None:
    def inverse(x: Any) -> Any:
        return None if x is None else 1 / x

    def inverses(x: pa.Array) -> pa.Array:
        return pa.array([inverse(each) for each in x.to_pylist()], pa.float64())

    body = inverses if is_vectorised else inverse
    function = user_function("f", body, "double", "bigint", is_vectorised=is_vectorised)
    found = call_user(function, [pa.array(values, pa.int64())], function.returns)
    wanted = [None if x is None or x == 0 else 1 / x for x in values]
    assert found.value.to_pylist() == wanted
    faults = [x == 0 for x in values]
    assert (
        np.zeros(len(values), bool) if found.faults is None else found.faults
    ).tolist() == faults


@pytest.mark.parametrize("is_vectorised", [False, True])
def test_a_query_ends_at_a_row_that_has_no_value_and_names_it(is_vectorised: bool) -> None:
    session = session_of()
    body: Any = pc.divide_checked if is_vectorised else (lambda x, y: x // y)
    session.function(
        "quotient", body, returns="bigint", takes="bigint, bigint", vectorised=is_vectorised
    )
    failing = session.query("SELECT quotient(l, k) AS q FROM a [1 MINUTE]")
    other = session.query("SELECT COUNT(*) AS n FROM a [1 MINUTE]")
    guarded = session.query(
        "SELECT CASE WHEN k <> 0 THEN quotient(l, k) END AS q FROM a [1 MINUTE] WHERE k = 0"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        session.push("a", batch_of("a", ({"ts": MOMENT, "k": 0, "l": 7},)))
        session.finish()
    with pytest.raises(
        windrow.DataError, match=r"QUOTIENT\(l, k\) failed where .*l is 7.*: "
    ) as at:
        failing.result()
    assert at.value.code == "WD758"
    assert other.result()["n"].to_pylist() == [1]
    assert guarded.result()["q"].to_pylist() == [None]


def test_a_result_that_its_type_cannot_hold_is_a_fault() -> None:
    function = user_function("f", lambda x: x, "int", "bigint")
    found = call_user(function, [pa.array([1, 2**40])], function.returns)
    assert found.faults is not None
    assert found.faults.tolist() == [False, True]
    short = user_function("g", lambda x: x[:-1], "bigint", "bigint", is_vectorised=True)
    found = call_user(short, [pa.array([1, 2])], short.returns)
    assert found.faults is not None
    assert found.faults.all()
    none = user_function("h", lambda: 7, "int")
    assert call_user(none, [], none.returns).value.as_py() == 7


# ---- plans


def test_a_plan_is_stored_without_its_functions_and_needs_them_again() -> None:
    session = with_functions()
    plan = session.plan_of("SELECT SUM(twice(k)) AS t FROM a [3 SECONDS]")
    assert isinstance(plan, QueryPlan)
    text = plan_to_json(plan)
    assert "twice(BIGINT) RETURNS BIGINT" in text
    with pytest.raises(windrow.CheckpointError, match="there is none") as caught:
        plan_from_json(text)
    assert caught.value.code == "WC793"
    same = user_function("twice", lambda x: 2 * x, "bigint", "bigint")
    with known_functions({"twice": same}):
        again = plan_from_json(text)
    assert fingerprint(again) == fingerprint(plan)
    argument = again.aggregates[0].argument
    assert argument is not None
    values, faults = evaluate_checked(argument, lambda _: pa.array([1, 2], pa.int32()), 2)
    assert (values.to_pylist(), faults) == ([2, 4], None)
    other = user_function("twice", lambda x: 2 * x, "double", "bigint")
    with known_functions({"twice": other}), pytest.raises(windrow.CheckpointError, match="WC793"):
        plan_from_json(text)


@pytest.mark.parametrize("name", ["abs", "sum", "a b", "twice", "select", "row_number"])
def test_names_of_functions_are_new(name: str) -> None:
    with pytest.raises(windrow.BindingError, match="WB755"):
        with_functions().function(name, abs, returns="double")
    with pytest.raises(windrow.BindingError, match="WB755"):
        with_functions().function("f", 5, returns="double")  # type: ignore[arg-type]


def test_functions_must_be_deterministic_and_are_called_as_they_were_given() -> None:
    session = with_functions()
    with pytest.raises(windrow.UnsupportedError, match="WU757"):
        session.function("dice", lambda: 4, returns="int", deterministic=False)
    for call in ("twice()", "twice(k, k)"):
        with pytest.raises(windrow.BindingError, match="WB756"):
            session.query(f"SELECT {call} AS x FROM a [1 MINUTE]")
    with pytest.raises(windrow.BindingError, match="did you mean twice"):
        session.query("SELECT twise(k) AS x FROM a [1 MINUTE]")
