"""`windrow bench live-results`: the results that feed the structures, and the command."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from papers.live_results import measure
from papers.live_results.connections import (
    Connections,
    read_connections,
    zipf_connections,
)
from papers.live_results.distinct import distinct_results
from papers.live_results.experiments import EXPERIMENTS, FIGURES, FULL
from papers.live_results.joined import joined_results
from papers.live_results.measure import (
    STRUCTURES,
    UnequalRowsError,
    measured_figures,
    structures_for,
)
from papers.live_results.result_stream import ResultStream, Span, Timing, stamped
from papers.live_results.show import bench_live_results
from support.command_line import events, windrow
from windrow import connect
from windrow.apps.terminal.screen import Screen
from windrow.errors import DataError
from windrow.operators.expiry.binary_heap import BinaryHeap

WRONG_USAGE = 2
SLIDE_US = 500_000
TIMING = Timing(rows_per_s=6, window_us=3_000_000, slide_us=SLIDE_US)
ALL = Span(windows=1e6, results=0)


def few_sources(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 4, count)


def live_by_stream(stream: ResultStream, instant: int) -> int:
    births = np.repeat(stream.instants, np.diff(stream.starts))
    return int(((births <= instant) & (stream.expiries > instant)).sum())


def instants(count: int) -> range:
    last = int(stamped(count, TIMING.rows_per_s, SLIDE_US)[-1])
    return range(SLIDE_US, last + 1, SLIDE_US)


def in_window(stamps: np.ndarray, instant: int) -> np.ndarray:
    return (stamps <= instant) & (stamps > instant - TIMING.window_us)


def test_rows_of_a_slide_have_its_end_as_their_time() -> None:
    assert stamped(6, 6, SLIDE_US).tolist() == [SLIDE_US] * 3 + [2 * SLIDE_US] * 3


def test_live_joined_results_are_the_pairs_in_both_windows() -> None:
    links = few_sources(60, 1), few_sources(60, 2)
    stream = joined_results(links, TIMING, ALL)
    stamps = [stamped(60, TIMING.rows_per_s, SLIDE_US, turn) for turn in (0.25, 0.75)]
    for instant in instants(60):
        held = [
            Counter(link[in_window(times, instant)].tolist())
            for link, times in zip(links, stamps, strict=True)
        ]
        pairs = sum(held[0][source] * held[1][source] for source in held[0])
        assert live_by_stream(stream, instant) == pairs > 0


def test_live_representatives_are_the_distinct_pairs_of_the_window() -> None:
    pairs = np.random.default_rng(5).integers(0, 30, 120)
    stream = distinct_results(pairs, TIMING, ALL)
    stamps = stamped(120, TIMING.rows_per_s, SLIDE_US)
    for instant in instants(120):
        assert live_by_stream(stream, instant) == len(set(pairs[in_window(stamps, instant)]))
    # Duplicates are no accesses of their own: a pair is queued again only when it comes up.
    births = np.repeat(stream.instants, np.diff(stream.starts))
    assert births.size < pairs.size


def net_changes(stream: ResultStream) -> dict[int, int]:
    births = np.repeat(stream.instants, np.diff(stream.starts))
    net = Counter(births.tolist())
    net.subtract(stream.expiries[stream.expiries <= births[-1]].tolist())
    return {instant: change for instant, change in net.items() if change}


def net_changes_of_the_engine(text: str, **streams: np.ndarray) -> dict[int, int]:
    """The rows of the streams come evenly, in turns; the clock goes as far as whole slides do."""
    session = connect()
    for name in streams:
        session.stream(name, "ts timestamp, k bigint", time="ts")
    query = session.query(text)
    count = min(keys.size for keys in streams.values())
    turns = (0.25, 0.75) if len(streams) > 1 else (0.5,)
    for (name, keys), turn in zip(streams.items(), turns, strict=True):
        times = ((np.arange(count) + turn) * 1_000_000 / TIMING.rows_per_s).astype(np.int64)
        session.push(name, pa.table({"ts": pa.array(times).cast(pa.timestamp("us")), "k": keys}))
        session.advance(name, to=instants(count)[-1])
    net: Counter[int] = Counter()
    for change in query.changes().to_pylist():
        net[round(change["at"].timestamp() * 1e6)] += change["change"]
    return {instant: change for instant, change in net.items() if change}


def test_joined_results_come_and_go_as_in_the_engine() -> None:
    links = few_sources(60, 1), few_sources(60, 2)
    window = "[RANGE 3 SECONDS SLIDE 500 MILLISECONDS]"
    text = f"SELECT a.k FROM a {window}, b {window} WHERE a.k = b.k"
    found = net_changes_of_the_engine(text, a=links[0], b=links[1])
    assert found == net_changes(joined_results(links, TIMING, ALL))


def test_distinct_results_come_and_go_as_in_the_engine() -> None:
    pairs = np.random.default_rng(5).integers(0, 30, 120)
    text = "SELECT DISTINCT k FROM a [RANGE 3 SECONDS SLIDE 500 MILLISECONDS]"
    found = net_changes_of_the_engine(text, a=pairs)
    assert found == net_changes(distinct_results(pairs, TIMING, ALL))


def test_a_duplicate_prolongs_a_pair_when_it_comes_up() -> None:
    pairs = np.array([7, 7, 8, 8, 8, 8, 8, 8])
    stream = distinct_results(pairs, Timing(1, 3_000_000, 1_000_000), ALL)
    births = np.repeat(stream.instants, np.diff(stream.starts)) // 1_000_000
    expiries = stream.expiries // 1_000_000
    # 7 comes at 1 and 2, 8 at each second from 3 to 8.
    assert list(zip(births, expiries, strict=True)) == [(1, 4), (3, 6), (4, 5), (6, 8), (8, 10)]


def test_a_stream_ends_with_its_span() -> None:
    links = few_sources(600, 1), few_sources(600, 2)
    stream = joined_results(links, TIMING, Span(windows=1.0, results=10))
    assert stream.instants[-1] == 2 * TIMING.window_us
    assert stream.instants[stream.first_measured] == TIMING.window_us + SLIDE_US
    births = np.repeat(stream.instants, np.diff(stream.starts))
    measured = stream.instants[stream.first_measured : -1]
    live = [live_by_stream(stream, int(instant)) for instant in measured]
    assert stream.mean_live == pytest.approx(np.mean(live))
    assert stream.accesses == pytest.approx(
        ((births > TIMING.window_us).sum() + left_between(stream, births)) / 2
    )


def left_between(stream: ResultStream, births: np.ndarray) -> int:
    later = stream.expiries > TIMING.window_us
    return int((later & (stream.expiries <= births[-1])).sum())


def test_links_are_split_by_destination() -> None:
    connections = zipf_connections(5_000, seed=3)
    first, second = connections.links()
    assert first.size + second.size == 5_000
    assert abs(first.size - second.size) < 5_000 / 9 * 1.2
    busiest = np.bincount(connections.sources).argmax()
    assert busiest < 10  # the first sources are the busy ones
    assert np.unique(connections.pairs).size > np.unique(connections.sources).size


def test_every_structure_gets_a_figure() -> None:
    stream = joined_results((few_sources(90, 1), few_sources(90, 2)), TIMING, ALL)
    found = measured_figures(stream, structures_for(2, SLIDE_US), rounds=1)
    assert tuple(found) == STRUCTURES
    assert all(figure.held_bytes > 0 and figure.empty_slide_ns > 0 for figure in found.values())


class LastIn(BinaryHeap):
    """Gives out the right rows, the last first."""

    def dequeue(self, until: int) -> tuple[np.ndarray, np.ndarray]:
        expiries, items = super().dequeue(until)
        return expiries[::-1], items[::-1]


def test_no_times_where_the_order_is_wrong() -> None:
    stream = joined_results((few_sources(90, 1), few_sources(90, 2)), TIMING, ALL)
    with pytest.raises(UnequalRowsError, match="last in"):
        measured_figures(stream, {"heap": BinaryHeap, "last in": LastIn}, rounds=1)


def test_no_times_where_a_structure_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measure, "TimingWheel", LastIn)
    done = bench_live_results(
        Screen(machine=True), figures=[7], quick=True, out=None, connections=None
    )
    assert not done
    shown = events(capsys.readouterr().out)
    assert [each["event"] for each in shown] == ["machine", "unequal"]


def write_connections(path: Path, **columns: object) -> Path:
    generated = zipf_connections(20_000, seed=4)
    rows = {
        "ts": pa.array(np.arange(20_000)).cast(pa.timestamp("s")),
        "link": pa.array([f"link {code}" for code in generated.destinations]),
        "src": pa.array([f"host {code}" for code in generated.sources]),
    }
    pq.write_table(pa.table({**rows, **columns}), path)
    return path


def test_connections_are_read_in_time_order(tmp_path: Path) -> None:
    times = pa.array(np.arange(20_000)[::-1]).cast(pa.timestamp("s"))
    forwards = read_connections(write_connections(tmp_path / "forwards.parquet"))
    backwards = read_connections(write_connections(tmp_path / "backwards.parquet", ts=times))
    equal = np.equal.outer(forwards.sources[::-1][:50], forwards.sources[::-1][:50])
    found = np.equal.outer(backwards.sources[:50], backwards.sources[:50])
    assert np.array_equal(equal, found)
    assert isinstance(forwards, Connections)


def test_plots_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    path = write_connections(tmp_path / "shop_connections.parquet")
    out = tmp_path / "plots"
    assert bench_live_results(Screen(), figures=[7], quick=True, out=out, connections=path)
    assert sorted(each.name for each in out.iterdir()) == ["figure-7.svg", "figures.json"]
    drawn = (out / "figure-7.svg").read_text()
    assert "Figure 7" in drawn
    assert "shop connections" in drawn
    kept = json.loads((out / "figures.json").read_text())
    assert {row["connections"] for row in kept["measured"]} == {
        "shop connections",
        "generated connections",
    }
    assert "Figure 7: DISTINCT pairs, 100 rows/s" in capsys.readouterr().out


def test_the_figures_for_machines(tmp_path: Path) -> None:
    command = ("bench", "live-results", "--quick", "--figure", "5", "--slide-ms", "500", "--json")
    done = windrow(*command, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "generated ones only" in done.stderr
    first, *rest = events(done.stdout)
    measured = [each for each in rest if each["event"] == "measured"]
    assert (first["event"], first["connections"]) == ("machine", ["generated connections"])
    assert {each["structure"] for each in measured} == set(STRUCTURES)
    assert {(each["window_s"], each["slide_s"]) for each in measured} == {
        (10, 0.5),
        (30, 0.5),
        (100, 0.5),
    }
    assert all(each["cpu_ns_per_result"] > 0 and each["mean_live"] > 0 for each in measured)


def test_a_file_that_is_not_parquet(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    path.write_text("ts,link,src")
    with pytest.raises(DataError, match="cannot be read") as caught:
        read_connections(path)
    assert caught.value.code == "WD502"


def test_a_file_without_sources(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"ts": [1], "link": ["a"]}), path)
    with pytest.raises(DataError, match="'src'") as caught:
        read_connections(path)
    assert caught.value.code == "WD505"


@pytest.mark.parametrize(
    "options", [("--figure", "3"), ("--slide-ms", "300"), ("--connections", "nowhere.parquet")]
)
def test_wrong_usage(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = windrow("bench", "live-results", *options, folder=tmp_path)
    assert (done.returncode, done.stdout) == (WRONG_USAGE, "")
    assert options[0] in done.stderr


def test_the_papers_queries_rates_and_windows() -> None:
    assert FIGURES == (4, 5, 6, 7)
    assert [(each.query, each.rows_per_s) for each in EXPERIMENTS] == [
        ("join", 5),
        ("join", 100),
        ("distinct", 5),
        ("distinct", 100),
    ]
    assert (FULL.windows_s[0], FULL.windows_s[-1]) == (1, 1000)
