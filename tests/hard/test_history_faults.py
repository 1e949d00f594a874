"""An exception at every place of a step of a history leaves it as before the step, or after it.

The history loses nodes from level to level, into an archive or for good, and groups that come and
go with them; queries follow it, and sketches are kept beside it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import windrow
from support.faults import chosen_places, fails_at, places_of
from windrow.history.parquet_archive import ParquetArchive

# Where the exception hits a generator that is being thrown away, Python swallows it, and says so.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

START = datetime(2026, 1, 1, tzinfo=UTC)
LEVELS = [("1 second", "4 seconds"), ("2 seconds", "6 seconds"), ("4 seconds", "8 seconds")]
FORMS: dict[str, dict[str, Any]] = {
    "plain": {},
    "grouped": {"by": ["k", "g"]},
    "sketches": {"by": ["k"], "quantiles": ["v"], "distincts": ["g"]},
    "archived": {"by": ["g"], "is_archived": True},
}
Operation = Callable[["Run"], object]


def rows_of(number: int) -> list[dict[str, Any]]:
    """Rows of about two seconds, some out of order, with NULL; their groups pass by."""
    draw = random.Random(number)
    return [
        {
            "ts": START + timedelta(seconds=1.5 * number, milliseconds=draw.randrange(20) * 100),
            "k": draw.choice([number // 2, number // 3, None]),
            "g": draw.choice([f"x{number // 3}", "é", None]),
            "v": draw.choice([1, 2, 3, 7, None]),
        }
        for _ in range((12, 30, 3)[number % 3])
    ]


@dataclass
class Run:
    """A session with a history and queries that follow it."""

    session: Any
    queries: list[Any]
    asked: list[str]

    @classmethod
    def of(cls, form: str, archive: Path | None) -> Run:
        session = windrow.connect()
        columns = "ts timestamp, k int, g string, v bigint"
        session.stream("s", columns, time="ts", lateness="1 second")
        wanted = dict(FORMS[form])
        if wanted.pop("is_archived", False):
            wanted["archive"] = archive
        session.history("s", measures=["v"], levels=LEVELS, split_above=3, **wanted)
        keys = wanted.get("by", [])
        select = ", ".join([*keys, "COUNT(*) AS n", "SUM(v) AS total", "MAX(v) AS top"])
        if "quantiles" in wanted:
            select += ", APPROX_PERCENTILE(v, 0.5) AS p, COUNT(DISTINCT g) AS d"
        group = f"GROUP BY {', '.join(keys)}" if keys else ""
        source = f"SELECT {select} FROM HISTORY(s)"
        queries = [
            session.query(f"{source} [FROM '2026-01-01' TO NOW] {group} {every}")
            for every in ("EVERY (1)", "")
        ]
        since, until = START + timedelta(seconds=2), START + timedelta(seconds=7.5)
        asked = [
            f"{source} [FROM '2026-01-01' TO NOW] {group}",
            f"{source} [FROM '{since:%F %T}' TO '{until:%F %T}'] {group}",
        ]
        return cls(session, queries, asked)

    def push(self, number: int) -> None:
        self.session.push("s", rows_of(number))

    def outcome(self) -> list[Any]:
        """All that a reader sees; groups in any order."""
        shown = [_sorted(self.session.ask(text)) for text in self.asked]
        for each in self.queries:
            shown += [_sorted(each.result()), _sorted(each.answers()), _sorted(each.changes())]
        return [*shown, self.session.histories().drop_columns(["bytes"]).to_pylist()]


def _sorted(table: Any) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


def begun(form: str, archive: Path | None) -> Run:
    run = Run.of(form, archive)
    for number in range(6):
        run.push(number)
    return run


def rest_of(run: Run) -> list[Any]:
    first = run.outcome()
    for number in range(7, 10):
        run.push(number)
    run.session.finish()
    return [first, run.outcome(), run.session.ledger().to_pylist()]


def check_places(form: str, operation: Operation, folder: Path, is_whole: bool, few: int) -> None:
    archives = (folder / str(number) for number in range(1_000_000))
    run = begun(form, next(archives))
    operation(run)
    done = repr(rest_of(run))
    not_done = repr(rest_of(begun(form, next(archives))))
    assert "incomplete" not in done
    run = begun(form, next(archives))
    places = places_of(lambda: operation(run))
    for place in chosen_places(places, is_whole, few):
        run = begun(form, next(archives))
        problem = KeyboardInterrupt() if place % 2 else MemoryError()
        where = fails_at(lambda run=run: operation(run), place, problem)
        try:
            found = repr(rest_of(run))
        except Exception as wrong:
            raise AssertionError(f"place {place} ({where})") from wrong
        assert found in (done, not_done), f"place {place} ({where})"


@pytest.mark.parametrize("form", FORMS)
def test_push(form: str, tmp_path: Path, is_whole: bool) -> None:
    check_places(form, lambda run: run.push(6), tmp_path, is_whole, few=40)


@pytest.mark.parametrize("form", FORMS)
def test_advance(form: str, tmp_path: Path, is_whole: bool) -> None:
    """Far enough that everything leaves."""

    def advances(run: Run) -> None:
        run.session.advance("s", to=START + timedelta(seconds=10.5))

    check_places(form, advances, tmp_path, is_whole, few=40)


@pytest.mark.parametrize("form", ["grouped", "sketches"])
def test_reading(form: str, tmp_path: Path, is_whole: bool) -> None:
    """What takes nothing away changes nothing; what does takes all or nothing."""
    for reads in (
        lambda run: run.session.ask(run.asked[1]),
        lambda run: run.queries[0].result(),
        lambda run: run.queries[0].answers(),
        lambda run: run.queries[0].changes(),
        lambda run: run.session.histories(),
    ):
        check_places(form, reads, tmp_path / str(id(reads)), is_whole, few=10)


def test_a_fault_that_stays_makes_the_history_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    run = begun("grouped", None)

    def fails(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("windrow.history.adaptive_tree.grow", fails)
    with pytest.raises(MemoryError):
        run.push(6), run.session.ledger()  # few rows wait until somebody looks
    with pytest.raises(windrow.DataError, match="WD306"):
        run.session.ask(run.asked[0])
    monkeypatch.undo()
    for read in (lambda: run.session.ask(run.asked[0]), run.queries[0].result):
        with pytest.raises(windrow.DataError, match="WD306"):
            read()
    run.push(7)  # others go on


def test_rows_wait_while_the_archive_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, twin = begun("archived", tmp_path / "a"), begun("archived", tmp_path / "b")

    def is_full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(ParquetArchive, "_write_file", is_full)
        for number in (9, 10, 11):
            with pytest.raises(windrow.DataError, match="WD520"):
                run.push(number), run.session.ledger()  # few rows wait until somebody looks
    for number in (9, 10, 11):
        twin.push(number)
    run.push(12), twin.push(12)
    run.session.finish(), twin.session.finish()
    assert [_sorted(run.session.ask(text)) for text in run.asked] == [
        _sorted(twin.session.ask(text)) for text in twin.asked
    ]
