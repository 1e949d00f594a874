"""The governor of a session on Spark, over shards on dictionaries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from support.spark.driven_job import DrivenJob, heartbeat, order
from support.streams import batch_of, instant, plan_of
from windrow.errors import AdmissionError
from windrow.event_time import END_OF_TIME
from windrow.plan.model import QueryPlan
from windrow.spark.driver.governed_windows import query_rows_of, window_rows_of, windows_of
from windrow.spark.driver.governing import Governing
from windrow.spark.driver.publication import Publication
from windrow.spark.driver.query_widths import QueryWidths
from windrow.spark.monitoring.status import QueryStatus
from windrow.spark.shuffle.packets import Packet
from windrow.storage import Storage
from windrow.windows.lifetime import Lifetime

SECOND = 1_000_000
SUM = "SELECT COUNT(*) AS n, SUM(d) AS s FROM b [60 SECONDS] ERROR (40%)"
FULL = "SELECT COUNT(*) AS n, SUM(d) AS s FROM b [60 SECONDS]"


@dataclass
class DrivenQuery:
    """A query as the governor sees it; orders go with its next batch."""

    name: str
    plan: QueryPlan
    folder: Path
    job: DrivenJob = field(init=False)
    answers: list[pa.Table] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.job = DrivenJob(self.plan, self.folder / self.name, 2)
        self._control = Storage(self.folder / f"{self.name}-control")
        self._widths = QueryWidths(self.plan, self._control)
        self._orders: list[Packet] = []

    @property
    def publication(self) -> Publication:
        return self.job.publication

    @property
    def status(self) -> QueryStatus:
        return self.publication.status

    def tolerated_span_us(self) -> int:
        return self._widths.tolerated_span_us(self.publication)

    def rows_per_second(self, span_us: int) -> float:
        return self.publication.rows_per_second(span_us)

    def ordered_lifetime(self, position: int) -> Lifetime:
        return self._widths.lifetime(self.status, position)

    @property
    def has_pending_order(self) -> bool:
        return self._widths.is_pending(self.status)

    def order(self, lifetimes: Mapping[int, Lifetime]) -> None:
        self._widths.order(self.status, lifetimes)
        assert self._widths._last is not None
        self._orders = [order(self._widths._last.number, lifetimes[0])]

    def batch(self, rows: pa.RecordBatch) -> None:
        orders, self._orders = self._orders, []
        self.answers.append(self.job.batch({"b": rows}, orders)["answers"])

    def finish(self) -> pa.Table:
        self.answers.append(self.job.batch({}, [heartbeat("b", END_OF_TIME)])["answers"])
        return pa.concat_tables(self.answers)


def rows(begin: int, seconds: int, rate: int) -> pa.RecordBatch:
    """So many rows a second; values go up and down, so that sums differ."""
    times = [begin * SECOND + n * SECOND // rate for n in range(seconds * rate)]
    made = [{"ts": instant(time), "k": 1, "d": 5 + np.sin(time / 7e6)} for time in times]
    return batch_of("b", tuple(made))


def driven(folder: Path, text: str, name: str = "q") -> DrivenQuery:
    return DrivenQuery(name, plan_of(text), folder)


def truth(batches: list[pa.RecordBatch], at_us: int, seconds: int) -> tuple[int, float]:
    table = pa.Table.from_batches(batches)
    times = table["ts"].cast(pa.int64()).to_numpy()
    held = (times >= at_us - seconds * SECOND) & (times <= at_us)
    return int(held.sum()), float(table["d"].to_numpy()[held].sum())


def check_bounds(answers: pa.Table, batches: list[pa.RecordBatch], seconds: int = 60) -> set[str]:
    """Every answer is within its bound of the truth; the levels that there were."""
    at = answers["at"].cast(pa.int64()).to_pylist()
    for instant_us, row in zip(at, answers.to_pylist(), strict=True):
        exact_values = truth(batches, instant_us, seconds)
        for found, exact in zip((row["n"], row["s"]), exact_values, strict=True):
            assert abs(found - exact) <= ((row["error_bound"] or 0.0) + 1e-9) * abs(exact), row
    return set(answers["level"].to_pylist())


def test_a_window_is_narrowed_when_memory_is_short_and_widened_when_it_is_not(
    tmp_path: Path,
) -> None:
    query = driven(tmp_path, SUM + " EVERY (1 SECOND)")
    budget = 60_000
    governing = Governing(budget, lambda: [query])
    governing.started(query)
    given, widths = [], []
    for number in range(40):
        given.append(rows(5 * number, 5, 40 if number < 20 else 5))
        query.batch(given[-1])
        governing.after_batch()
        (window,) = windows_of(query)
        widths.append(window.state().width_us)
        assert number < 3 or query.status.window_bytes <= budget
    assert min(widths) < 60 * SECOND
    assert widths[-1] == 60 * SECOND
    levels = check_bounds(query.finish(), given)
    assert levels == {"A", "B"}
    decisions = governing.decisions()
    assert set(decisions["case"].to_pylist()) >= {"A", "B"}
    assert decisions["window"].to_pylist() == ["q.b"] * decisions.num_rows
    (row,) = window_rows_of([query])
    assert (row.level, row.width) == ("A", 60 * SECOND)


def test_turns_serve_queries_that_can_wait(tmp_path: Path) -> None:
    """Each needs its window only once a minute, so that one can grow while the other is narrow."""
    text = SUM.replace("60 SECONDS", "20 SECONDS").replace("40%", "10%") + " EVERY (60 SECONDS)"
    queries = [driven(tmp_path, text, name) for name in ("one", "other")]
    governing = Governing(120_000, lambda: queries)
    given, levels = [], []
    for number in range(50):
        given.append(rows(5 * number, 5, 120))
        for query in queries:
            query.batch(given[-1])
            governing.after_batch()
        assert governing.nbytes < 120_000
        levels += [window_rows_of([query])[0].level for query in queries]
    # An order takes effect a batch later: until then a tolerance may be smaller than was decided.
    assert set(levels[20:]) <= {"C", "unmet"}
    assert levels[20:].count("C") > 60
    assert "C" in governing.decisions()["case"].to_pylist()
    for query in queries:
        answers = query.finish()
        assert check_bounds(answers, given, 20) == {"A", "C"}
        assert max(bound or 0.0 for bound in answers["error_bound"].to_pylist()) <= 0.1


def test_what_cannot_be_served_says_what_would_help(tmp_path: Path) -> None:
    query = driven(tmp_path, FULL)
    governing = Governing(30_000, lambda: [query])
    number = 0
    while query.status.window_bytes < 30_000:
        governing.after_batch()
        query.batch(rows(5 * number, 5, 40))
        number += 1
    with pytest.raises(AdmissionError, match="WA411") as refused:
        governing.after_batch()
    assert "connect with memory=" in (refused.value.hint or "")
    assert "give query q an ERROR" in (refused.value.hint or "")


def test_a_query_that_does_not_fit_beside_the_others_is_not_admitted(tmp_path: Path) -> None:
    running = driven(tmp_path, FULL)
    governing = Governing(200_000, lambda: [running])
    wide = FULL.replace("60 SECONDS", "2 MINUTES")
    long = driven(tmp_path, wide, "wide")
    governing.admit(long)  # nothing is known of the stream
    for number in range(4):
        running.batch(rows(5 * number, 5, 40))
        governing.after_batch()
    with pytest.raises(AdmissionError, match=r"WA412.*'wide'.*cannot be served"):
        governing.admit(long)
    governing.admit(driven(tmp_path, FULL.replace("60 SECONDS", "9 SECONDS"), "short"))
    governing.admit(driven(tmp_path, wide + " ERROR (60%)", "tolerant"))


@pytest.mark.parametrize("text", [FULL, SUM])
def test_rows_of_one_moment_are_no_rate(tmp_path: Path, text: str) -> None:
    first = driven(tmp_path, text, "first")
    governing = Governing(1 << 20, lambda: [first])
    moments = [{"ts": instant(SECOND + n // 500), "k": 1, "d": 1.0} for n in range(1_000)]
    first.batch(batch_of("b", tuple(moments)))
    governing.after_batch()
    for seconds in (1, 60, 3_600):
        governing.admit(driven(tmp_path, FULL.replace("60 SECONDS", f"{seconds} SECONDS"), "next"))
    (row,) = window_rows_of([first])
    assert row.rate is not None
    assert row.rate <= 1_000


def test_a_query_without_error_keeps_its_range(tmp_path: Path) -> None:
    exact, loose = driven(tmp_path, FULL, "exact"), driven(tmp_path, SUM, "loose")
    governing = Governing(132_000, lambda: [exact, loose])
    given = []
    for number in range(24):
        given.append(rows(5 * number, 5, 40))
        for each in (exact, loose):
            each.batch(given[-1])
            governing.after_batch()
    assert window_rows_of([exact])[0].level == "A"
    assert window_rows_of([loose])[0].level == "B"
    assert not exact.status.limits.lifetimes
    assert check_bounds(exact.finish(), given) == {"A"}
    assert check_bounds(loose.finish(), given) == {"A", "B"}
    (row,) = query_rows_of([loose])
    assert row.error == 40
    assert 0 < (row.tolerance or 0) < 60 * SECOND


def test_after_a_restart_a_narrow_window_is_known_to_be_narrow(tmp_path: Path) -> None:
    query = driven(tmp_path, SUM)
    governing = Governing(60_000, lambda: [query])
    for number in range(20):
        query.batch(rows(5 * number, 5, 40))
        governing.after_batch()
    width = windows_of(query)[0].state().width_us
    assert width < 60 * SECOND
    query.job.restart()
    assert windows_of(query)[0].state().width_us == width
    again = Governing(10_000_000, lambda: [query])
    for number in range(20, 22):
        query.batch(rows(5 * number, 5, 40))
        again.after_batch()
    assert windows_of(query)[0].state().width_us == 60 * SECOND


def test_what_continuous_questions_hold_counts(tmp_path: Path) -> None:
    query, beside = driven(tmp_path, SUM), [0]
    governing = Governing(200_000, lambda: [query], lambda: beside[0])
    for number in range(16):
        query.batch(rows(5 * number, 5, 40))
        governing.after_batch()
    assert not query.status.limits.lifetimes
    held, beside[0] = governing.nbytes, 127_000
    assert governing.nbytes == held + 127_000
    for number in range(16, 24):
        query.batch(rows(5 * number, 5, 40))
        governing.after_batch()
    assert windows_of(query)[0].state().width_us < 60 * SECOND
    assert governing.nbytes <= 200_000
    with pytest.raises(AdmissionError, match="WA41"):
        governing.admit(driven(tmp_path, FULL, "next"))
    alone = Governing(100_000, list, lambda: 100_001)
    with pytest.raises(AdmissionError, match=r"(?s)WA411.*questions"):
        alone.after_batch()
