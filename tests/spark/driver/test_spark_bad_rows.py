"""Rows on Spark that cannot be held or believed: counted, shown, and the others go on."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from support.nested_forms import COLUMNS as ALL_TYPES
from support.nested_forms import JSON_ROW
from support.spark.stream_files import Sessions
from windrow import sources
from windrow.errors import DataError
from windrow.schema import StreamSchema, columns_of

pytestmark = pytest.mark.spark

NOW = datetime.now(UTC).replace(tzinfo=None)
COLUMNS = "ts timestamp, k string, x int"


def lines(*times: datetime) -> list[str]:
    return [f"{time:%Y-%m-%d %H:%M:%S},a,1\n" for time in times]


@pytest.mark.long_spark
def test_bad_rows_of_files_are_set_aside_and_a_wrong_clock_makes_nobody_late(
    tmp_path: Path, sessions: Sessions
) -> None:
    good = lines(NOW, NOW + timedelta(seconds=1), NOW + timedelta(seconds=9))
    far = lines(datetime(2199, 1, 1, tzinfo=UTC))
    bad = ["noon,a,1\n", f"{NOW:%Y-%m-%d %H:%M:%S},a,much\n"]
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "1.csv").write_text("".join(["ts,k,x\n", *far, *good[:2], *bad]))
    (tmp_path / "csv" / "2.csv").write_text("".join(["ts,k,x\n", good[2], *far]))
    (tmp_path / "jsonl").mkdir()
    time = f"{NOW:%Y-%m-%d %H:%M:%S}"
    texts = [
        f'{{"ts": "{time}", "k": "a", "x": 1}}',
        '{"ts": "noon"}',
        '{"ts": "2199-01-01"}',
        "oh",
    ]
    (tmp_path / "jsonl" / "1.jsonl").write_text("\n".join(texts))
    session = sessions.open(buckets=2)
    for name, source in (
        ("c", sources.csv(tmp_path / "csv", files_per_batch=1)),
        ("j", sources.jsonl(tmp_path / "jsonl")),
    ):
        session.stream(name, COLUMNS, time="ts", lateness=60, source=source, on_bad_row="set aside")
    counts = {}
    for name in ("c", "j"):
        # Only one of the columns is read: a row is bad whatever a query reads of it.
        text = f"SELECT k, COUNT(*) AS n FROM {name} [1 HOUR] GROUP BY k"
        query = session.query(text, name=name).start("memory", trigger="available")
        query.await_end()
        query.finish()
        counts[name] = query.result()["n"].to_pylist()
    assert counts == {"c": [3], "j": [1]}
    ledgers = {row["stream"]: row for row in session.ledger().to_pylist()}
    for name, bad_time in (("c", 2), ("j", 1)):
        ledger = ledgers[name]
        parts = ("applied", "late", "bad_time", "bad_value", "rejected", "waiting")
        assert ledger["rows_in"] == sum(ledger[part] for part in parts)
        assert (ledger["late"], ledger["bad_time"], ledger["bad_value"]) == (0, bad_time, 2)
    shown = session.bad_rows("c")["row"].to_pylist()
    assert sorted(text for text in shown if "much" in text or "noon" in text) == sorted(
        line.rstrip() for line in bad
    )


@pytest.mark.parametrize(
    ("format_", "text", "place"),
    [
        (
            "jsonl",
            '{"ts": "2026-01-01", "x": 1}\n{"ts": "2026-01-01", "x": "a"}\n',
            "line 2, column 2",
        ),
        ("csv", "ts,x\n2026-01-01T00:00:00Z,1\n2026-01-01T00:00:00Z,a\n", "line 3, column 2"),
    ],
)
@pytest.mark.long_spark
def test_a_value_that_does_not_fit_is_named_with_its_place(
    format_: str, text: str, place: str, sessions: Sessions, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / f"a.{format_}").write_text(text)
    session = sessions.open(buckets=1)
    source = getattr(sources, format_)(str(tmp_path / "in"))
    session.stream("s", "ts timestamp, x int", time="ts", source=source)
    session.query("SELECT SUM(x) AS t FROM s [9 SECONDS]").start("memory", trigger="available")
    with pytest.raises(DataError, match=rf"WD506.*a\.{format_}, {place} \('x'\): 'a' is not"):
        session.finish()


@pytest.mark.long_spark
def test_lines_of_json_hold_every_type(sessions: Sessions, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    rows = [JSON_ROW, {**JSON_ROW, "a": "no array"}]
    texts = [json.dumps(row) + "\n" for row in rows]
    (tmp_path / "in" / "a.jsonl").write_text("".join(texts))
    session = sessions.open(buckets=1)
    source = sources.jsonl(str(tmp_path / "in"))
    session.stream("n", ALL_TYPES, time="ts", on_bad_row="set aside", source=source)
    query = session.query("SELECT * FROM n [3 SECONDS]", name="q")
    query.start("memory", trigger="available")
    session.finish()
    ((read, _),) = source.read(StreamSchema("n", columns_of(ALL_TYPES), "ts", 0, "set aside"))
    assert query.result().to_pylist() == read.batch.to_pylist()
    (counts,) = session.ledger().to_pylist()
    assert (counts["applied"], counts["bad_value"], len(read.bad)) == (1, 1, 1)
