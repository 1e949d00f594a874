"""`windrow bench`: its streams, its truth, and the command."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from papers.join_aggregate import measure
from papers.join_aggregate.arrivals import Arrivals, Phase, Setting, phase_arrivals
from papers.join_aggregate.experiments import (
    ALGORITHMS,
    EXPERIMENTS,
    FIGURES,
    panels_of,
)
from papers.join_aggregate.show import bench_join_aggregate
from papers.join_aggregate.truth import true_result
from support.command_line import events, windrow
from windrow.apps.terminal.screen import Screen
from windrow.errors import UnsupportedError

WRONG_USAGE = 2
SMALL = Setting(window_s=2.0, keys=3, fill=Phase(2.0, 5.0), measured=(Phase(1.0, 5.0),))


def pairs_by_hand(setting: Setting, past: list[Arrivals]) -> int:
    end_us, window_us = past[-1].end_us, round(setting.window_s * 1_000_000)
    rows = [row for each in past for row in zip(each.streams, each.times, each.keys, strict=True)]
    live = [row for row in rows if end_us - window_us <= row[1] <= end_us]
    return sum(a[0] == 0 and b[0] == 1 and a[2] == b[2] for a in live for b in live)


def test_the_truth_is_that_of_all_pairs() -> None:
    past = phase_arrivals(SMALL, seed=3)
    assert pairs_by_hand(SMALL, past) > 0
    assert true_result(SMALL, past) == {-1: pairs_by_hand(SMALL, past)}


def test_streams_are_even_and_take_turns() -> None:
    fill, measured = phase_arrivals(SMALL, seed=3)
    assert (fill.count, measured.count) == (20, 10)
    assert set(np.diff(fill.times)) == {100_000}
    assert fill.streams.tolist() == [0, 1] * 10
    assert fill.times[-1] <= fill.end_us < measured.times[0]
    pushed = [(stream, rows.num_rows) for stream, rows in measured.pushes(4)]
    assert pushed == [("A", 2), ("B", 2), ("A", 2), ("B", 2), ("A", 1), ("B", 1)]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda each: each.name)
def test_experiments_have_the_papers_rates(experiment: object) -> None:
    paper, higher = panels_of(experiment, quick=False)
    assert (paper.times, paper.points[0].setting.batch_rows) == (1, 1)
    rates = [panel.points[0].setting.fill.rows_per_s for panel in (paper, higher)]
    assert rates[1] == pytest.approx(rates[0] * higher.times)
    bytes_per_s = {2: 100, 4: 500, 6: 1800, 7: 100}[experiment.figures[0]]
    assert rates[0] * 18 == pytest.approx(bytes_per_s)


def test_the_figures_for_machines(tmp_path: Path) -> None:
    done = windrow("bench", "join-aggregate", "--quick", "--figure", "2", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    first, *measured = events(done.stdout)
    assert (first["event"], first["quick"]) == ("machine", True)
    assert {each["algorithm"] for each in measured} == set(ALGORITHMS)
    assert {each["x"] for each in measured} == {10.0, 20.0, 30.0}
    assert len(measured) == 2 * 3 * len(ALGORITHMS)
    assert all(each["cpu_us_per_arrival"] > 0 and each["bytes"] > 0 for each in measured)


def test_plots_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    command = ("bench", "join-aggregate", "--quick", "--figure", "5", "--out", "plots")
    done = windrow(*command, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == [
        "figure-5.svg",
        "figures.json",
    ]
    assert "Figure 5" in (tmp_path / "plots" / "figure-5.svg").read_text()
    kept = json.loads((tmp_path / "plots" / "figures.json").read_text())
    assert {row["experiment"] for row in kept["measured"]} == {"falling-rate"}
    assert "Figure 4 and 5: The rate falls" in done.stdout


def test_no_times_where_an_answer_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measure, "true_result", lambda *_: {-1: -1})
    screen = Screen(machine=True)
    assert not bench_join_aggregate(screen, figures=[4], quick=True, out=None)
    shown = events(capsys.readouterr().out)
    assert [each["event"] for each in shown] == ["machine", "unequal"]


def test_no_times_where_algorithms_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_with_a_slip(*arguments: object, thin: bool) -> object:
        outcome = run(*arguments, thin=thin)
        if "charged" in arguments:
            outcome.changes = outcome.changes.slice(1)
        return outcome

    run = measure._run
    monkeypatch.setattr(measure, "_run", run_with_a_slip)
    with pytest.raises(measure.UnequalAnswersError, match="charged"):
        measure.measured_figures(SMALL, ["factorised", "charged"], seed=1, repeats=1)


def test_without_matplotlib_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "papers.plots", raising=False)
    with pytest.raises(UnsupportedError, match="matplotlib") as caught:
        bench_join_aggregate(Screen(), figures=[2], quick=True, out=tmp_path)
    assert (caught.value.code, list(tmp_path.iterdir())) == ("WU511", [])
    assert "windrow-sql[bench]" in (caught.value.hint or "")


@pytest.mark.parametrize("figure", ["1", "8", "two"])
def test_an_unknown_figure_is_wrong_usage(tmp_path: Path, figure: str) -> None:
    done = windrow("bench", "join-aggregate", "--figure", figure, folder=tmp_path)
    assert (done.returncode, done.stdout) == (WRONG_USAGE, "")
    assert "--figure" in done.stderr


def test_every_figure_belongs_to_one_experiment() -> None:
    assert FIGURES == (2, 3, 4, 5, 6, 7)
