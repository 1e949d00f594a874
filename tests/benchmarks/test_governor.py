"""`windrow bench governor`: random windows and queries, what is measured, and the command."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from papers.governor import group_costs as costs
from papers.governor import solver_costs as solvers
from papers.governor import width_errors as errors
from papers.governor.draws import drawn_tables, drawn_turning, drawn_widths_us
from papers.governor.experiments import EXPERIMENTS, FIGURES, FULL, Effort, Experiment
from papers.governor.group_costs import AP, BEFORE, DP, drawn_from_queries, group_costs
from papers.governor.series import run_series
from papers.governor.show import bench_governor
from papers.governor.solver_costs import EXACT, MANY_TRIES, SOLVERS, solver_costs
from papers.governor.soundness import NotSoundError, checked_cost
from papers.governor.width_errors import (
    AFTER,
    EQUAL,
    PROPORTIONAL,
    RANDOM,
    width_errors,
)
from support.command_line import events, windrow
from support.random_demands import turning_of
from support.slow_partitions import least_cost
from windrow.apps.terminal.screen import Screen
from windrow.governor.figures import figures_of
from windrow.governor.groups.turning import is_partition
from windrow.governor.tables import SECOND_US

WRONG_USAGE = 2


def random(*seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_tables_are_drawn_within_their_limits() -> None:
    drawn = drawn_tables(20, 300, random(1))
    assert (len(drawn.windows), len(drawn.demands)) == (20, 300)
    for demand in drawn.demands:
        assert 10 * SECOND_US <= demand.range_us <= 200 * SECOND_US
        assert 0 <= demand.tolerance_us <= 0.2 * demand.range_us
        assert SECOND_US <= demand.delay_us <= 60 * SECOND_US
    assert drawn_tables(20, 300, random(1)) == drawn
    assert drawn_tables(20, 300, random(2)) != drawn


def test_every_window_is_read() -> None:
    drawn = drawn_tables(20, 21, random(1))
    assert {each.window for each in drawn.demands} == {each.window for each in drawn.windows}


def test_turning_windows_are_drawn_as_solvers_take_them() -> None:
    turning = drawn_turning(40, random(1))
    assert (np.diff(turning.exchange) <= 0).all()
    assert (turning.growth_us <= turning.period_us).all()
    assert is_partition(turning, np.arange(40))


def test_random_widths_take_the_budget() -> None:
    widths_us = drawn_widths_us([10_000, 50_000], [2.0, 0.5], 40_000.0, random(3))
    assert widths_us[0] * 2.0 + widths_us[1] * 0.5 == pytest.approx(40_000, abs=3)


def test_every_budget_is_between_levels_b_and_a() -> None:
    for seed in range(20):
        found = width_errors(30)(4, random(seed))
        assert tuple(found) == (RANDOM, EQUAL, PROPORTIONAL, AFTER)
        assert found[AFTER]["unserved_percent"] == 0
        assert found[AFTER]["error_s"] > 0
        for name in (RANDOM, EQUAL, PROPORTIONAL):
            is_served = found[name]["unserved_percent"] == 0
            assert not is_served or found[name]["error_s"] >= found[AFTER]["error_s"] - 1e-5


def test_errors_and_unserved_queries_are_those_of_the_queries() -> None:
    drawn = drawn_tables(3, 12, random(4))
    figures = figures_of(drawn.windows, drawn.demands)
    width_us = 120 * SECOND_US
    found = errors._measures([width_us] * 3, figures, drawn.demands)
    lacking = [max(0, each.range_us - width_us) for each in drawn.demands]
    unserved = [each.range_us - each.tolerance_us > width_us for each in drawn.demands]
    assert found["error_s"] == pytest.approx(sum(lacking) / SECOND_US)
    assert found["unserved_percent"] == pytest.approx(100 * sum(unserved) / 12)


def test_shared_memory_is_that_of_the_best_of_all_partitions() -> None:
    for seed in range(10):
        found = group_costs(40)(6, random(seed))
        turning = drawn_from_queries(6, 40, random(seed))
        best = least_cost(turning) / 1000
        assert found[DP]["shared_kb"] == pytest.approx(best)
        assert found[BEFORE]["shared_kb"] == pytest.approx(sum(turning.exchange) / 1000)
        above = 100 * (found[AP]["shared_kb"] / best - 1)
        assert found[AP]["above_dp_percent"] == pytest.approx(above)
        assert found[AP]["is_beyond_paper"] == (above > 20)


def test_first_fit_is_beyond_the_papers_claim_at_times() -> None:
    seed = (7, 300, 7, 122)
    found = group_costs(300)(7, random(*seed))[AP]
    best = least_cost(drawn_from_queries(7, 300, random(*seed))) / 1000
    assert found["above_dp_percent"] == pytest.approx(100 * (found["shared_kb"] / best - 1))
    assert (found["above_dp_percent"] > 20, found["is_beyond_paper"]) == (True, 1)


@pytest.mark.parametrize("queries_a_window", [30, None])
def test_solvers_are_measured_against_the_optimum(queries_a_window: int | None) -> None:
    for seed in range(3):
        found = solver_costs(queries_a_window)(9, random(seed))
        assert tuple(found) == SOLVERS
        assert found[DP]["above_bound_percent"] == 0
        assert found[EXACT]["above_bound_percent"] == pytest.approx(0, abs=1e-4)
        assert (found[EXACT]["is_proven"], found[AP]["above_bound_percent"] >= 0) == (1, True)
        assert found[EXACT]["cpu_ms"] > found[MANY_TRIES]["cpu_ms"] > 0


def test_beyond_the_subsets_there_is_no_dp() -> None:
    found = solver_costs(None)(18, random(1))
    assert DP not in found
    gap = found[EXACT]["proven_gap_percent"]
    assert found[EXACT]["above_bound_percent"] == pytest.approx(gap)


def test_groups_that_do_not_fit_have_no_cost() -> None:
    turning = turning_of([(5, 6, 2), (4, 6, 1)])
    assert checked_cost("apart", turning, np.array([0, 1])) == 3
    with pytest.raises(NotSoundError, match="together gives groups that are not valid"):
        checked_cost("together", turning, np.array([0, 0]))


def all_in_one(turning: object) -> np.ndarray:
    del turning
    return np.zeros(12, np.int64)


def each_alone(turning: object) -> np.ndarray:
    del turning
    return np.arange(12)


@pytest.mark.parametrize("wrong", [all_in_one, each_alone])
def test_no_figures_where_a_solver_is_wrong(
    monkeypatch: pytest.MonkeyPatch, wrong: Callable[[object], np.ndarray]
) -> None:
    monkeypatch.setattr(costs, "best_by_subsets", wrong)
    monkeypatch.setattr(solvers, "best_by_subsets", wrong)
    for run in (group_costs(360), solver_costs(30)):
        with pytest.raises(NotSoundError):
            run(12, random(1))


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_no_figures_where_widths_are_wrong(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    right = errors.b_support
    monkeypatch.setattr(
        errors, "b_support", lambda *given: [int(each * factor) for each in right(*given)]
    )
    with pytest.raises(NotSoundError):
        width_errors(30)(4, random(1))


def test_the_command_shows_nothing_that_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(errors, "b_support", lambda figures, _: [0] * len(figures))
    assert not bench_governor(Screen(machine=True), figures=[2], quick=True, out=None)
    shown = events(capsys.readouterr().out)
    assert [each["event"] for each in shown] == ["machine", "not_sound"]


def test_means_largest_and_shares() -> None:
    def run(windows: int, generator: np.random.Generator) -> dict[str, dict[str, float]]:
        value = float(generator.integers(0, 100))
        return {"it": {"x": windows * value, "is_even": float(value % 2 == 0)}}

    effort = Effort({"kind": (2, 3)}, {"kind": 9})
    told: list[int] = []
    series = run_series(Experiment("kind", (9,), "values", run, 50), effort, 7, told.append)
    values = [float(random(7, 50, 3, each).integers(0, 100)) for each in range(9)]
    row = series.rows()[1]
    assert (told, row["windows"], row["instances"]) == ([2, 3], 3, 9)
    assert row["x_mean"] == pytest.approx(3 * math.fsum(values) / 9, abs=1e-3)
    assert row["x_max"] == 3 * max(values)
    assert row["even_share"] == pytest.approx(sum(v % 2 == 0 for v in values) / 9, abs=1e-3)
    assert "even_max" not in row


def test_plots_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "plots"
    assert bench_governor(Screen(), figures=[3, 4, 6, 8], quick=True, out=out)
    names = sorted(each.name for each in out.iterdir())
    assert names == [*(f"figure-{number}.svg" for number in (3, 4, 6, 8)), "figures.json"]
    assert "accumulated error, 600 queries" in (out / "figure-3.svg").read_text()
    assert "(AP - DP) / DP, 300 queries" in (out / "figure-6.svg").read_text()
    kept = json.loads((out / "figures.json").read_text())
    assert {tuple(row["figures"]) for row in kept["measured"]} == {(3,), (4, 6), (8,)}
    assert "Figure 4 and figure 6: shared memory, 300 queries" in capsys.readouterr().out


def test_the_figures_for_machines(tmp_path: Path) -> None:
    command = ("bench", "governor", "--quick", "--figure", "7", "--seed", "5", "--json")
    done = windrow(*command, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "with the seed 5" in done.stderr
    first, *measured = events(done.stdout)
    assert (first["event"], first["seed"], first["quick"]) == ("machine", 5, True)
    assert {each["contender"] for each in measured} == {BEFORE, DP, AP}
    assert [each["windows"] for each in measured] == [5, 5, 5, 9, 9, 9]
    assert windrow(*command, folder=tmp_path).stdout.split("\n")[1:] == done.stdout.split("\n")[1:]


@pytest.mark.parametrize("options", [("--figure", "1"), ("--figure", "9"), ("--seed", "-1")])
def test_wrong_usage(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = windrow("bench", "governor", *options, folder=tmp_path)
    assert (done.returncode, done.stdout) == (WRONG_USAGE, "")
    assert options[0] in done.stderr


def test_the_papers_queries_and_windows() -> None:
    assert FIGURES == (2, 3, 4, 5, 6, 7, 8)
    by_figure = {figure: each.queries for each in EXPERIMENTS for figure in each.figures}
    assert [by_figure[figure] for figure in range(2, 8)] == [300, 600, 300, 600, 300, 600]
    assert (FULL.windows["groups"][-1], FULL.windows["solvers"][-1]) == (17, 100)
