"""REPLACE QUERY in a shell: where rows flow, the windows of the query stay, and others go on."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.desks import Typist, typing
from windrow.errors import WindrowError

STREAM = "CREATE STREAM temp (room STRING, ts TIMESTAMP, celsius DOUBLE) TIME ts;"
HOT = "CREATE QUERY hot AS SELECT room, COUNT(*) AS n FROM temp [1 HOUR] GROUP BY room"


@pytest.fixture
def typist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    with typing(capsys) as typist:
        yield typist


def flow(typist: Typist, *rows: tuple[str, int, float]) -> None:
    """Rows of (room, minute, celsius) that come by themselves."""
    rooms, minutes, celsius = zip(*rows, strict=True)
    times = pa.array([minute * 60_000_000 for minute in minutes], pa.timestamp("us", tz="UTC"))
    typist.desk.bench.begin_flow()
    typist.desk.bench.give("temp", pa.table({"room": rooms, "ts": times, "celsius": celsius}))


def results(typist: Typist, name: str) -> list[tuple[object, ...]]:
    hidden = ("event", "query")
    shown = typist.types(f"\\watch {name}")
    return [tuple(value for key, value in row.items() if key not in hidden) for row in shown]


def begun(typist: Typist, into: str = "") -> None:
    typist.types(STREAM + HOT + into + ";")
    typist.types("CREATE QUERY all_of_them AS SELECT COUNT(*) AS n FROM temp [2 HOURS];")
    flow(typist, ("east", 0, 31.0), ("east", 10, 32.0), ("west", 20, 33.0), ("west", 30, 1.0))


def test_a_changed_query_keeps_its_rows(typist: Typist) -> None:
    begun(typist)
    (told,) = typist.types(
        "REPLACE QUERY hot AS SELECT room, COUNT(*) AS n, 2 * COUNT(*) AS m FROM temp [25 MINUTES] "
        "GROUP BY room HAVING COUNT(*) > 0;"
    )
    assert (told["kind"], told["name"]) == ("query", "hot")
    flow(typist, ("west", 31, 1.0))
    assert results(typist, "hot") == [("east", 1, 2), ("west", 2, 4)]
    assert results(typist, "all_of_them") == [(4,)]


def test_one_that_cannot_go_on_is_refused_or_begins_anew(typist: Typist) -> None:
    begun(typist)
    longer = "QUERY hot AS SELECT room, COUNT(*) AS n FROM temp [2 HOURS] GROUP BY room;"
    with pytest.raises(WindrowError, match="WC425"):
        typist.types("REPLACE " + longer)
    assert results(typist, "hot") == [("east", 2), ("west", 1)]
    notes = []
    typist.desk.screen.note = notes.append
    typist.types("CREATE OR REPLACE " + longer)
    assert "begins anew, with empty windows" in notes[0]
    flow(typist, ("west", 31, 1.0), ("west", 32, 1.0))
    assert results(typist, "hot") == [("west", 1)]
    assert results(typist, "all_of_them") == [(5,)]


def test_its_sink_stays_where_none_is_written(typist: Typist) -> None:
    begun(typist, " INTO parquet('out')")
    typist.types(
        "REPLACE QUERY hot AS SELECT room, COUNT(*) AS n FROM temp [1 HOUR] GROUP BY room;"
    )
    flow(typist, ("west", 31, 1.0))
    answers = [pq.read_table(each).to_pylist() for each in sorted(Path("out").iterdir())]
    assert len(answers) == 2
    assert [row["n"] for row in answers[1]] == [2, 2]
    typist.types(
        "REPLACE QUERY hot AS SELECT room, COUNT(*) AS n FROM temp [1 HOUR] GROUP BY room "
        "INTO parquet('other');"
    )
    flow(typist, ("west", 32, 1.0))
    assert len(list(Path("out").iterdir())) == 2
    assert len(list(Path("other").iterdir())) == 1


def test_a_query_that_there_is_not(typist: Typist) -> None:
    typist.types(STREAM)
    select = "QUERY hot AS SELECT COUNT(*) AS n FROM temp [1 HOUR];"
    with pytest.raises(WindrowError, match=r"(?s)WB530.*CREATE OR REPLACE QUERY hot"):
        typist.types("REPLACE " + select)
    typist.types("CREATE OR REPLACE " + select)
    flow(typist, ("west", 31, 1.0), ("west", 32, 1.0))
    assert results(typist, "hot") == [(1,)]
    with pytest.raises(WindrowError, match=r"(?s)WB517.*CREATE OR REPLACE"):
        typist.types("CREATE " + select)


def test_over_files_it_sees_them_from_their_start(typist: Typist) -> None:
    Path("temp.csv").write_text("room,ts,celsius\neast,2026-01-01,1\neast,2026-01-02,2\n")
    typist.types(STREAM.replace(";", " FROM csv('temp.csv');") + HOT + ";")
    typist.types("REPLACE QUERY hot AS SELECT COUNT(*) AS n FROM temp [9 DAYS];")
    assert results(typist, "hot") == [(2,)]
