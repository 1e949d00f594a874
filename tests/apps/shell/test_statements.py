"""Statements in a shell do what a person expects, and what `windrow run` does."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from support.building_files import ROWS, SCRIPT, expected_alarms, write_job
from support.desks import Typist, typing
from windrow.errors import WindrowError

STREAMS = SCRIPT[SCRIPT.index("CREATE STREAM temp") : SCRIPT.index("CREATE QUERY alarms")]
BARE = "CREATE STREAM temp (location STRING, ts TIMESTAMP, celsius DOUBLE) TIME ts;"


@pytest.fixture
def typist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    write_job(tmp_path)
    monkeypatch.chdir(tmp_path)
    with typing(capsys) as typist:
        yield typist


def refused(typist: Typist, text: str) -> WindrowError:
    with pytest.raises(WindrowError) as caught:
        typist.types(text)
    return caught.value


def test_a_select_over_files_is_one_answer(typist: Typist) -> None:
    typist.types(STREAMS)
    (shown,) = typist.types("SELECT COUNT(*) AS n FROM smoke [30 SECONDS];")
    assert (shown["event"], shown["n"]) == ("result", 31)
    assert typist.desk.bench.outlets == {}
    # Asked again it is the same: the files are read from their start each time.
    assert typist.types("SELECT COUNT(*) AS n FROM smoke [30 SECONDS];")[0]["n"] == 31


def test_a_query_gives_the_answers_of_a_job(typist: Typist) -> None:
    typist.types("\\load job.wql")
    shown = typist.types("\\answers alarms")
    found = [(row["at"][14:19], row["location"], row["n"]) for row in shown]
    assert found == [(f"{s // 60:02}:{s % 60:02}", room, n) for s, room, n in expected_alarms()]
    results = typist.types("\\watch strength")
    assert [(row["event"], row["n"]) for row in results] == [("result", 31)]
    changes = pq.read_table("out")
    assert sum(changes["change"].to_pylist()) == 2


def test_a_query_that_comes_later_sees_the_files_from_their_start(typist: Typist) -> None:
    typist.types(STREAMS + "CREATE QUERY a AS SELECT COUNT(*) AS n FROM temp [1 DAY];")
    typist.types("CREATE QUERY b AS SELECT COUNT(*) AS n FROM temp [1 DAY];")
    assert [row["n"] for row in typist.types("\\watch")] == [ROWS, ROWS]


def test_rows_are_pushed_from_files(typist: Typist) -> None:
    typist.types(BARE)
    assert typist.types("SELECT COUNT(*) AS n FROM temp [1 DAY];")[0] == {
        "event": "done",
        "kind": "query",
        "name": "query1",
    }
    assert typist.types("\\push temp temp.parquet") == [
        {"event": "done", "kind": "rows", "rows": ROWS}
    ]
    assert typist.types("\\watch query1")[0]["n"] == ROWS
    # Now there is a file behind the stream, and a SELECT is one answer.
    assert typist.types("SELECT COUNT(*) AS n FROM temp [1 DAY];")[0]["event"] == "result"
    typist.types("\\push temp temp.parquet")
    ledger = typist.types("\\ledger")[0]
    # The second time all but the last are late: another row of that time might have followed.
    assert (ledger["rows_in"], ledger["late"]) == (2 * ROWS, ROWS - 1)
    assert len(typist.types("\\late temp")) == ROWS - 1


def test_rows_flow_at_a_pace(typist: Typist) -> None:
    typist.types(BARE + "CREATE QUERY n AS SELECT COUNT(*) AS n FROM temp [1 DAY];")
    typist.types("\\push temp temp.parquet 100000/s")
    bench = typist.desk.bench
    for _ in range(200):
        if bench.rows == ROWS:
            break
        bench.closed.wait(0.05)
    # The last row waits: others of its time may follow.
    assert typist.types("\\watch n")[0]["n"] == ROWS - 1
    shown = typist.types("SELECT COUNT(*) AS n FROM temp [1 DAY];")
    assert [each["event"] for each in shown] == ["done", "result"]
    assert shown[1]["n"] == 0
    assert typist.types("\\again") == []


def test_the_past_is_asked(typist: Typist) -> None:
    typist.types(STREAMS)
    typist.types("CREATE HISTORY ON smoke (strength) LEVELS (1 SECOND FOR 1 DAY);")
    past = "FROM HISTORY(smoke) [FROM '2026-01-01 00:00:00' TO '2026-01-01 00:01:00']"
    (answer,) = typist.types(f"SELECT COUNT(*) AS n {past};")
    assert (answer["event"], answer["n"], answer["exact"]) == ("answer", 60, True)
    kinds = [each["event"] for each in typist.types("\\d")]
    assert kinds == ["stream", "stream", "history"]


@pytest.mark.usefixtures("typist")
def test_people_see_bounds_only_where_they_are_needed(capsys: pytest.CaptureFixture[str]) -> None:
    with typing(capsys, machine=False) as person:
        person.shown(STREAMS)
        person.shown(
            "CREATE HISTORY ON smoke (strength) "
            "LEVELS (1 SECOND FOR 30 SECONDS, 1 MINUTE FOR 1 DAY);"
        )
        past = "SELECT COUNT(*) AS n FROM HISTORY(smoke) [FROM '2026-01-01 00:00:{}' TO NOW];"
        assert person.shown(past.format("00")).split() == ["n", "200"]
        assert person.shown(past.format("30")).split()[:4] == ["n", "n_low", "n_high", "exact"]


def test_memory_is_set_and_the_session_goes_on(typist: Typist) -> None:
    typist.types("\\load job.wql")
    assert typist.types("SET memory = '32 MB';")[0]["name"] == "memory"
    assert typist.desk.bench.session.memory == 32 << 20
    assert typist.types("\\watch strength")[0]["n"] == 31
    assert typist.types("SET trigger = '1 second';")[0]["name"] == "trigger"


def test_memory_that_is_not_enough_leaves_the_session_as_it_was(typist: Typist) -> None:
    typist.types("\\load job.wql")
    assert refused(typist, "SET memory = '1 KB';").code.startswith("WA")
    assert typist.types("\\watch strength")[0]["n"] == 31


def test_plans_are_shown(typist: Typist) -> None:
    typist.types("\\load job.wql")
    (plan,) = typist.types("EXPLAIN SELECT COUNT(*) FROM temp [1 HOUR];")
    assert "input temp [1 hour]" in plan["text"]
    (running,) = typist.types("\\explain alarms")
    assert "clock: 2026-01-01 00:03:19" in running["text"]
    (described,) = typist.types("\\d alarms")
    assert described["text"].startswith("SELECT temp.location")
    columns = typist.types("\\d smoke")
    assert [each["column"] for each in columns] == ["location", "ts", "strength"]
    assert columns[1]["role"] == "time, up to 10 seconds late"


def test_a_stopped_query_is_gone_and_its_name_is_free(typist: Typist) -> None:
    typist.types("\\load job.wql\n\\stop alarms")
    assert refused(typist, "\\watch alarms").code == "WB522"
    typist.types("CREATE QUERY alarms AS SELECT COUNT(*) AS n FROM temp [1 DAY];")
    assert typist.types("\\watch alarms")[0]["n"] == ROWS


def test_what_is_refused_leaves_nothing_behind(typist: Typist) -> None:
    error = refused(typist, "CREATE STREAM s (ts TIMESTAMP) TIME ts FROM csv('nothing.csv');")
    assert error.code == "WD501"
    assert typist.types("\\d") == []
    typist.types(BARE)
    error = refused(typist, "CREATE QUERY q AS SELECT celsus FROM temp [1 DAY];")
    assert (error.code, error.place.column if error.place else 0) == ("WB203", 26)
    rate = "CREATE STREAM r (ts TIMESTAMP, n BIGINT) TIME ts FROM rate();"
    assert refused(typist, rate).code == "WU502"
    sink = "CREATE ALERT q AS SELECT celsius FROM temp [1 DAY] INTO memory();"
    assert refused(typist, sink).code == "WU831"
    assert [each["event"] for each in typist.types("\\d")] == ["stream"]


def test_a_file_that_breaks_off_is_told(typist: Typist) -> None:
    with Path("smoke.csv").open("a") as file:
        file.write("lab,2026-01-01 00:10:00,not a number\n")
    assert refused(typist, STREAMS + "SELECT COUNT(*) FROM smoke [1 DAY];").code == "WD506"
    query = "CREATE QUERY q AS SELECT COUNT(*) AS n FROM smoke [1 DAY];"
    assert refused(typist, query).code == "WD506"


def test_files_are_read_again(typist: Typist) -> None:
    typist.types(STREAMS + "CREATE QUERY q AS SELECT COUNT(*) AS n FROM smoke [1 DAY];")
    with Path("smoke.csv").open("a") as file:
        file.write("lab,2026-01-01 00:10:00,0.5\n")
    assert typist.types("\\again")[0]["rows"] == ROWS + 1
    assert typist.types("\\watch q")[0]["n"] == ROWS + 1
    assert typist.types("\\windows")[0]["rows"] == ROWS + 1


def test_a_view_is_declared_and_read(typist: Typist) -> None:
    typist.types(STREAMS)
    typist.types("CREATE VIEW hot AS SELECT COUNT(*) AS n FROM temp [1 DAY];")
    assert typist.types("SELECT n FROM hot;")[0]["n"] == ROWS
    typist.types("CREATE QUERY q AS SELECT n + 1 AS m FROM hot;")
    assert [row["m"] for row in typist.types("\\watch")] == [ROWS + 1]


def test_alerts_are_shown(typist: Typist) -> None:
    typist.types(BARE)
    typist.types(
        "CREATE ALERT hot AS SELECT location, MAX(celsius) AS c FROM temp [1 DAY] "
        "GROUP BY location WHEN c > 0;"
    )
    assert typist.types("SHOW ALERTS;") == typist.types("\\alerts") == []
