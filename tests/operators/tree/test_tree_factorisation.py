"""Which queries factorise, by which trees, and what is said of the others."""

from __future__ import annotations

import pytest

from support.streams import plan_of
from windrow.plan.factorisation import NO_PARENT, Factorisation, factorisation

THREE = "FROM a [2 SECONDS], b [2 SECONDS], c [2 SECONDS] WHERE "


def found(text: str) -> Factorisation:
    result = factorisation(plan_of(text))
    assert isinstance(result, Factorisation), result
    return result


def test_a_star_hangs_on_its_root() -> None:
    star = found(f"SELECT COUNT(*) AS n {THREE} a.k = b.k AND b.k = c.k")
    assert star.parents(star.linear_root).count(star.linear_root) == 2
    assert star.parents(2) == (2, 2, NO_PARENT)


def test_a_chain_has_an_end_as_its_root() -> None:
    chain = found(f"SELECT COUNT(*) AS n {THREE} a.k = b.k AND b.s = c.s")
    assert chain.linear_root == 0  # from the middle both ends would spread
    assert chain.parents(0) == (NO_PARENT, 0, 1)
    assert chain.parents(2) == (1, 2, NO_PARENT)


def test_the_root_has_the_groups() -> None:
    chain = f"{THREE} a.s = b.s AND b.y = c.y"
    assert found(f"SELECT b.d AS d, COUNT(*) AS n {chain} GROUP BY b.d").linear_root == 1
    by_keys = found(f"SELECT a.s AS s, c.y AS y, SUM(a.l) AS n {chain} GROUP BY a.s, c.y")
    assert by_keys.linear_root == 1  # only b has both join variables


def test_extremes_have_trees_of_their_own() -> None:
    star = found(f"SELECT MAX(c.d) AS m, COUNT(DISTINCT a.s) AS n {THREE} a.k = b.k AND b.k = c.k")
    assert star.extreme_roots == (0, 2)


def test_inputs_without_a_common_variable_hang_together() -> None:
    loose = found(f"SELECT COUNT(*) AS n {THREE} a.k = b.k")
    assert sorted(loose.parents(0)) == [NO_PARENT, 0, 0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"COUNT(*) AS n {THREE} a.k = b.k AND b.s = c.s AND c.l = a.l", "form a cycle"),
        (f"COUNT(*) AS n {THREE} a.k = b.k AND b.k = c.k AND a.d > c.d", "a.d > c.d compares"),
        (f"a.d + b.d AS g, COUNT(*) AS n {THREE} a.k = b.k AND b.k = c.k GROUP BY a.d + b.d",
         "reads several inputs"),
        (f"a.s AS s, b.s AS t, COUNT(*) AS n {THREE} a.k = b.k AND b.k = c.k GROUP BY a.s, b.s",
         "columns of a and b"),
        (f"a.s AS s, c.d AS d, COUNT(*) AS n {THREE} a.s = b.s AND b.y = c.y GROUP BY a.s, c.d",
         "no input has all its group columns"),
        (f"MAX(a.d + b.d) AS m {THREE} a.k = b.k AND b.k = c.k", "reads several inputs"),
        (f"b.d AS d, MAX(a.d) AS m {THREE} a.k = b.k AND b.k = c.k GROUP BY b.d",
         "another input than the groups"),
        (f"SUM(ABS(a.d - b.d)) AS m {THREE} a.k = b.k AND b.k = c.k", "does not separate"),
    ],
)  # fmt: skip
def test_reasons(text: str, reason: str) -> None:
    said = factorisation(plan_of(f"SELECT {text}"))
    assert isinstance(said, str)
    assert reason in said
