"""The cost model: figures, the paper's formulas, and which algorithm is the cheapest."""

from __future__ import annotations

import pytest

from support.streams import CATALOG
from windrow.plan.binder import bind
from windrow.plan.cost import candidates, cheapest, paper_visits
from windrow.plan.figures import Figures, assumed_figures, combined_figures, measured_figures
from windrow.plan.model import QueryPlan
from windrow.sql import parse_query

EQUAL = "SELECT COUNT(*) AS n FROM a [10 SECONDS], b [20 SECONDS] WHERE a.k = b.k"


def plan_of(text: str) -> QueryPlan:
    return bind(parse_query(text), CATALOG)


def test_figures_from_rates_and_selectivity() -> None:
    figures = assumed_figures(plan_of(EQUAL), {"a": 5.0, "b": 10.0}, 0.1)
    assert figures.origin == "given"
    assert figures.held == (50.0, 200.0)
    assert figures.joined == pytest.approx(50 * 200 * 0.1)
    # A third of the arrivals is of a and finds 20 rows, the others find 5.
    assert figures.matches == pytest.approx((20 + 2 * 5) / 3)


def test_figures_of_a_running_query() -> None:
    figures = measured_figures((5.0, 10.0), (50, 200), 100, (4000, 1000))
    assert figures.kept == 0.25
    assert figures.joined == pytest.approx(100)
    assert figures.matches * figures.kept == pytest.approx((5 * 2 + 10 * 0.5) / 15)


def test_figures_of_shards_add_up() -> None:
    one = Figures((1.0, 3.0), (10.0, 30.0), 2.0, 1.0, "measured")
    other = Figures((3.0, 1.0), (30.0, 10.0), 4.0, 0.5, "measured")
    both = combined_figures([one, other])
    assert both.rates == (4.0, 4.0)
    assert both.held == (40.0, 40.0)
    assert both.matches == 3.0
    assert both.kept == pytest.approx((2 * 1.0 + 4 * 0.5) / 6)
    assert combined_figures([one]) == one


def test_the_formulas_of_the_paper() -> None:
    # alpha = 50, beta = 200, M = 10: (3) with one row leaving, and (6).
    figures = assumed_figures(plan_of(EQUAL), {"a": 5.0, "b": 10.0}, 0.1)
    third, sixth = paper_visits(figures)
    assert third == pytest.approx(50 + 200 + 2 * figures.matches)
    assert sixth == pytest.approx(2 * 50 + 2 * 200 + figures.matches)


def test_sums_over_equal_keys_are_factorised_whatever_the_figures() -> None:
    for selectivity in (0.0, 1e-6, 0.01, 1.0):
        assert cheapest(plan_of(EQUAL), assumed_figures(plan_of(EQUAL), None, selectivity)) == (
            "factorised"
        )


def test_conditions_on_pairs_are_charged_or_incremental() -> None:
    timed = plan_of(f"{EQUAL} AND a.d > b.d")
    assert cheapest(timed, assumed_figures(timed)) == "charged"
    counted = plan_of(
        "SELECT a.s AS s, COUNT(*) AS n FROM a [ROWS 100], b [ROWS 100] "
        "WHERE a.k = b.k AND a.d > b.d GROUP BY a.s"
    )
    assert cheapest(counted, assumed_figures(counted)) == "incremental"


def test_who_cannot_run_comes_last_with_the_reason() -> None:
    plan = plan_of(
        "SELECT MAX(a.d) AS m FROM a [1 SECOND], b [1 SECOND] WHERE a.k = b.k AND a.d > b.d"
    )
    found = candidates(plan, assumed_figures(plan))
    assert [each.name for each in found if each.reason is None] == ["charged", "pipelined"]
    assert {each.name for each in found if each.reason is not None} == {"factorised", "incremental"}


def test_holding_every_pair_costs_the_memory_of_every_pair() -> None:
    plan = plan_of(EQUAL)
    few, many = (
        {each.name: each.bytes for each in candidates(plan, assumed_figures(plan, None, share))}
        for share in (0.001, 0.1)
    )
    assert many["pipelined"] > 20 * few["pipelined"]
    assert many["charged"] == few["charged"]
    assert few["incremental"] < few["charged"]
