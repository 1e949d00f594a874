"""Histories of a session: declared, listed, archived, and refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from support.binding_errors import failure
from support.history_truth import session_of
from windrow.embedded import EmbeddedSession

FOREVER = [("1 second", "forever")]
ASKED = "SELECT {} FROM HISTORY(b) [FROM '2026-01-01' TO NOW]"


def second(number: int) -> str:
    return f"2026-01-01 00:00:{number:02d}"


def test_a_history_is_listed_with_its_bytes() -> None:
    session = session_of()
    assert session.histories().num_rows == 0
    levels = [(1, timedelta(minutes=10)), ("1 minute", None)]
    session.history("b", measures=["K"], by=["s"], levels=levels)
    (before,) = session.histories().to_pylist()
    assert before["measures"] == ["k"]
    assert before["levels"] == ["1 second for 10 minutes", "1 minute for ever"]
    assert before["known_from"] is None
    session.push("b", [{"ts": second(i % 60), "s": f"{i}", "k": i} for i in range(60)])
    (after,) = session.histories().to_pylist()
    assert after["rows"] == 59
    assert after["bytes"] > before["bytes"]


def test_what_is_forgotten_stays_within_bounds_and_in_an_archive_exact(tmp_path: Path) -> None:
    levels = [("1 second", 2), ("5 seconds", 10)]
    rows = [{"ts": second(i), "s": "xy"[i % 2], "k": 1} for i in range(60)]
    text = ASKED.format("s, COUNT(*) AS n") + " GROUP BY s"
    found = []
    for archive in (None, tmp_path / "new"):
        session = session_of()
        session.history("b", measures=["k"], by=["s"], levels=levels, archive=archive)
        session.push("b", rows)
        session.finish()
        found.append(session.ask(text).to_pylist())
    for row in found[0]:
        assert row["n_low"] <= 30 <= row["n_high"]
        assert (row["exact"], row["around_from"]) == (False, None)
    assert [(row["s"], row["n"], row["exact"]) for row in found[1]] == [
        ("x", 30, True),
        ("y", 30, True),
    ]
    assert list((tmp_path / "new").glob("*.parquet"))
    whole = session_of()
    whole.history("b", measures=["k"], by=["s"], levels=levels)
    whole.push("b", rows)
    whole.finish()
    (row,) = whole.ask(ASKED.format("COUNT(*) AS n")).to_pylist()
    assert (row["n"], row["exact"]) == (60, True)  # of all groups together it is known


def test_sketches_answer_quantiles_and_different_values() -> None:
    session = session_of()
    session.history("b", measures=["d"], levels=FOREVER, quantiles=["d"], distincts=["s", "k"])
    session.push(
        "b", [{"ts": second(i // 20), "d": float(i), "s": f"{i % 7}", "k": i} for i in range(1000)]
    )
    session.finish()
    items = "APPROX_PERCENTILE(d, 0.9) AS q, COUNT(DISTINCT s) AS s, APPROX_COUNT_DISTINCT(k) AS k"
    (row,) = session.ask(ASKED.format(items)).to_pylist()
    assert row["q_low"] <= row["q"] <= row["q_high"]
    assert abs(row["q"] - 900) < 50
    assert row["s"] == row["s_low"] == row["s_high"] == 7
    assert row["k_low"] <= 1000 <= row["k_high"]
    assert row["exact"] is False
    (few,) = session.ask(
        f"SELECT {items} FROM HISTORY(b) [FROM '{second(0)}' TO '{second(1)}']"
    ).to_pylist()
    assert (few["q"], few["s"], few["k"], few["exact"]) == (17.0, 7, 20, True)
    (cut,) = session.ask(
        f"SELECT {items} FROM HISTORY(b) [FROM '{second(0)}.5' TO '{second(2)}']"
    ).to_pylist()
    assert cut["exact"] is False
    assert cut["q_low"] <= 37 <= cut["q_high"]


CALLS: dict[str, Callable[[EmbeddedSession, Path], object]] = {
    "WB106": lambda session, _: session.history("zzz", levels=FOREVER),
    "WB320": lambda session, _: session.history("a", levels=FOREVER),
    "WB301": lambda session, _: session.history("b", levels=[]),
    "WB302": lambda session, _: session.history("b", levels=[(0, None)]),
    "WB303": lambda session, _: session.history("b", levels=[(2, 5), (3, 9)]),
    "WB304": lambda session, _: session.history("b", levels=[(1, 50), (2, 9)]),
    "WB307": lambda session, _: session.history("b", levels=FOREVER, quantiles=["d"]),
    "WB309": lambda session, _: session.history("b", measures=["s"], levels=FOREVER),
    "WB310": lambda session, _: session.history("b", measures=["k"], by=["k"], levels=FOREVER),
    "WB325": lambda session, folder: session.history("b", levels=FOREVER, archive=folder),
    "WB104": lambda session, _: [
        session.query("SELECT COUNT(*) AS n FROM HISTORY(a) [FROM '2026-01-01' TO NOW]", name="q")
        for _ in range(2)
    ],
    "WU301": lambda session, _: session.query(
        "SELECT COUNT(*) AS n FROM HISTORY(a) [FROM '2026-01-01' TO NOW]"
    ).start("memory"),
    "WB422": lambda session, _: session.query(
        "SELECT COUNT(*) AS n FROM HISTORY(a) [FROM '2026-01-01' TO NOW]"
    ).changes(0),
}


@pytest.mark.parametrize("code", CALLS)
def test_what_cannot_be_is_refused(code: str, tmp_path: Path) -> None:
    (tmp_path / "older.parquet").write_bytes(b"")
    session = session_of()
    session.history("a", measures=["k"], levels=FOREVER)
    assert failure(lambda: CALLS[code](session, tmp_path)).code == code


@pytest.mark.parametrize("archive", [5, ""])
def test_an_archive_is_a_path(archive: object) -> None:
    session = session_of()
    error = failure(lambda: session.history("b", levels=FOREVER, archive=archive))
    assert error.code == "WB325"


def test_late_rows_and_another_stream_do_not_disturb_a_history() -> None:
    session = session_of()
    session.history("b", measures=["k"], levels=FOREVER)
    session.push("b", [{"ts": second(5), "k": 1}])
    session.push("b", [{"ts": second(3), "k": 1}, {"ts": second(5), "k": 1}])
    session.push("a", [{"ts": second(50), "k": 1}])
    session.advance("b", to=second(6))
    (row,) = session.ask(ASKED.format("SUM(k) AS n")).to_pylist()
    assert (row["n"], row["exact"]) == (2, True)
    assert session.late("b").num_rows == 1
