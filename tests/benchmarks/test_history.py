"""`windrow bench history`: when rows come, what is measured, and the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from papers.history import measure
from papers.history.bursts import (
    DAY_US,
    SECOND_US,
    Source,
    connection_times,
    generated_bursts,
    packet_times,
    uniform,
)
from papers.history.experiments import (
    BUILDING,
    EXPERIMENTS,
    FINENESS,
    FULL_EFFORT,
    QUICK_EFFORT,
    RANGES,
)
from papers.history.measure import (
    FULL,
    LIST,
    STORAGES,
    TREE,
    UnequalAnswersError,
    built,
    check_equal,
    spec_for,
    values_for,
)
from papers.history.series import figure_of, run_series
from papers.history.show import FIGURES, bench_history
from papers.history.slices import SLICES, Slices
from papers.rivals.sequential_list import SequentialList
from support.command_line import events, windrow
from windrow.apps.terminal.screen import Screen
from windrow.errors import DataError
from windrow.history.storage import Reading

WRONG_USAGE = 2
FEW = replace(QUICK_EFFORT, generated_rows=3_000, fineness_rows=2_000, ranges=4)


def write_packets(path: Path) -> Path:
    traces = ["short"] * 2 + ["long"] * 3
    pq.write_table(pa.table({"trace": traces, "gap_us": [5, 6, 10, 20, 30]}), path)
    return path


def write_connections(path: Path) -> Path:
    times = generated_bursts(3_000, seed=2).times[::-1]
    pq.write_table(pa.table({"ts": pa.array(times).cast(pa.timestamp("us"))}), path)
    return path


def test_uniform_rows_come_ten_a_second() -> None:
    source = uniform(5_000, seed=1)
    counts = np.bincount(source.times // (50 * SECOND_US), minlength=10)
    assert (source.times.size, counts.size) == (5_000, 10)
    assert (np.diff(source.times) >= 0).all()
    assert counts.min() > 400


def test_generated_bursts_hold_nearly_all_rows() -> None:
    times = generated_bursts(5_000, seed=1).times
    assert (times.size, bool((np.diff(times) >= 0).all()), times[-1] < DAY_US) == (
        5_000,
        True,
        True,
    )
    minutes = np.sort(np.bincount(times // (60 * SECOND_US), minlength=1440))[::-1]
    assert minutes[:120].sum() > 0.97 * 5_000


def test_packets_are_sums_of_the_gaps_of_the_largest_trace(tmp_path: Path) -> None:
    source = packet_times(write_packets(tmp_path / "arrivals.parquet"))
    assert (source.name, source.times.tolist()) == ("packets, long", [10, 30, 60])


def test_connections_come_in_order(tmp_path: Path) -> None:
    source = connection_times(write_connections(tmp_path / "shop_visits.parquet"))
    assert source.name == "shop visits"
    assert np.array_equal(source.times, generated_bursts(3_000, seed=2).times)


def test_the_busiest_day() -> None:
    times = np.array([1, DAY_US + 1, DAY_US + 2, 5 * DAY_US])
    assert Source("days", times, (SECOND_US,)).busiest_day().tolist() == [DAY_US + 1, DAY_US + 2]


def test_every_storage_takes_all_rows() -> None:
    source = generated_bursts(3_000, seed=3)
    found = run_series(BUILDING, source, FEW, 7, lambda _: None)
    assert [point.x for point in found.points] == [1_500, 3_000]
    spec = spec_for(source.granularities_us)
    for point in found.points:
        assert tuple(point.found) == (TREE, FULL, LIST)
        assert all(measures["cpu_ms"] > 0 for measures in point.found.values())
        assert point.found[FULL]["bytes"] > 5 * point.found[TREE]["bytes"]
    history = built(STORAGES[TREE], spec, source.times, values_for(3_000, 7)).history
    assert history.snapshot(0, DAY_US).bounds("count").value == 3_000
    assert found.points[-1].found[TREE]["bytes"] == history.nbytes


def test_ranges_have_a_figure_for_each_length() -> None:
    found = run_series(RANGES, uniform(3_000, seed=3), FEW, 7, lambda _: None)
    assert [point.x for point in found.points] == [1.0, 50.0]
    for point in found.points:
        assert tuple(point.found) == (TREE, FULL, LIST, SLICES)
        assert all(measures["cpu_us"] > 0 for measures in point.found.values())


def test_the_tree_saves_most_where_nodes_are_fine() -> None:
    found = run_series(FINENESS, uniform(3_000, seed=3), FEW, 7, lambda _: None)
    shares = [point.found["uniform"]["share_of_full"] for point in found.points]
    assert 0 < shares[0] < 0.5 < shares[1]
    (half,) = figure_of(6, [found]).halves
    assert list(half.lines[0].ys) == [100 * share for share in shares]


class Forgetful(SequentialList):
    """Passes over the first three seconds of every range."""

    def read(self, reading: Reading, since_us: int, until_us: int, target: int) -> None:
        super().read(reading, since_us + 3 * SECOND_US, until_us, target)


def test_no_figures_where_a_storage_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(measure.STORAGES, LIST, Forgetful)
    with pytest.raises(UnequalAnswersError, match=LIST):
        run_series(BUILDING, uniform(3_000, seed=3), FEW, 7, lambda _: None)
    assert not bench_history(Screen(machine=True), figures=[3], quick=True, out=None)
    shown = events(capsys.readouterr().out)
    assert [each["event"] for each in shown] == ["machine", "unequal"]


def test_an_answer_in_doubt_is_not_equal() -> None:
    source = uniform(3_000, seed=3)
    spec = spec_for(source.granularities_us)
    values = values_for(3_000, 7)
    histories = {
        name: built(make, spec, source.times, values).history for name, make in STORAGES.items()
    }
    check_equal(histories, [(0, 60 * SECOND_US)])
    with pytest.raises(UnequalAnswersError, match="in doubt"):
        check_equal(histories, [(SECOND_US // 2, 60 * SECOND_US)])


def test_slices_are_checked_too() -> None:
    source = uniform(3_000, seed=3)
    values = values_for(3_000, 7)
    spec = spec_for(source.granularities_us)
    history = built(STORAGES[TREE], spec, source.times, values).history
    ranges = [(0, 60 * SECOND_US), (DAY_US, DAY_US + 1)]
    Slices(source.times, values).check(history, ranges)
    for wrong in (Slices(source.times + 1_000_000, values), Slices(source.times, values[::-1])):
        with pytest.raises(UnequalAnswersError):
            wrong.check(history, ranges)


def test_plots_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "plots"
    path = write_connections(tmp_path / "shop_visits.parquet")
    assert bench_history(Screen(), figures=[4, 5, 7], quick=True, out=out, connections=path)
    names = sorted(each.name for each in out.iterdir())
    assert names == ["figure-4.svg", "figure-5.svg", "figure-7.svg", "figures.json"]
    assert "shop visits" in (out / "figure-4.svg").read_text()
    assert "1 minute" in (out / "figure-7.svg").read_text()
    kept = json.loads((out / "figures.json").read_text())
    assert [each["name"] for each in kept["machine"]["sources"]] == ["uniform", "shop visits"]
    drawn = [row for row in kept["measured"] if row["figures"] == [7]]
    assert [row["granularity_s"] for row in drawn] == [3600, 600, 60, 10, 1]
    assert drawn[0]["base"] == 0 < drawn[-1]["base"]
    shown = capsys.readouterr()
    assert "Figure 7: the tree of 3,000 rows, shop visits" in shown.out
    assert "generated" not in shown.err


def test_the_figures_for_machines(tmp_path: Path) -> None:
    done = windrow("bench", "history", "--quick", "--figure", "5", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "generated ones" in done.stderr
    first, *measured = events(done.stdout)
    assert first["event"] == "machine"
    assert {each["source"] for each in measured} == {"uniform", "generated bursts"}
    assert {each["contender"] for each in measured} == {TREE, FULL, LIST, SLICES}


@pytest.mark.parametrize("read", [packet_times, connection_times])
def test_files_that_are_of_no_use(tmp_path: Path, read: object) -> None:
    assert callable(read)
    path = tmp_path / "rows.parquet"
    path.write_text("ts,trace")
    with pytest.raises(DataError, match="cannot be read") as caught:
        read(path)
    assert caught.value.code == "WD502"
    pq.write_table(pa.table({"x": [1]}), path)
    with pytest.raises(DataError, match="lacks column") as caught:
        read(path)
    assert caught.value.code == "WD505"


@pytest.mark.parametrize("options", [("--figure", "2"), ("--arrivals", "nowhere.parquet")])
def test_wrong_usage(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = windrow("bench", "history", *options, folder=tmp_path)
    assert (done.returncode, done.stdout) == (WRONG_USAGE, "")
    assert options[0] in done.stderr


def test_the_papers_figures() -> None:
    assert FIGURES == (3, 4, 5, 6, 7)
    assert [each.figures for each in EXPERIMENTS] == [(3, 4), (5,), (6,)]
    assert FULL_EFFORT.lengths[-1] == FULL_EFFORT.shares[-1] == 1.0
