"""Scripts of other systems become scripts of WQL, line by line where they were."""

from __future__ import annotations

import pytest

from windrow.dialects import DIALECTS, translate
from windrow.dialects.scanning import statements_of
from windrow.errors import BindingError
from windrow.jobs.checking import checked_job
from windrow.sql import parse_script

FLINK = """
CREATE TEMPORARY TABLE readings (
  room STRING, celsius DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'readings.jsonl', 'format' = 'json');
CREATE TABLE shown (room STRING, n BIGINT) WITH ('connector' = 'print');
CREATE VIEW warm AS
SELECT room, celsius FROM readings WHERE celsius > 20;
BEGIN STATEMENT SET;
INSERT INTO shown
SELECT room, COUNT(*) AS n FROM warm GROUP BY room;
END;
"""
KSQLDB = """
SET 'auto.offset.reset' = 'earliest';
CREATE STREAM clicks (id VARCHAR KEY, url VARCHAR, path ARRAY<VARCHAR>)
  WITH (KAFKA_TOPIC = 'clicks', VALUE_FORMAT = 'json');
CREATE STREAM pages AS
  SELECT id, 'page ' + url AS page FROM clicks PARTITION BY id EMIT CHANGES;
"""
RISINGWAVE = """
CREATE SCHEMA shop;
CREATE SOURCE shop.sales (item INT, price NUMERIC, at_time TIMESTAMPTZ)
  WITH (connector = 'kafka', topic = 'sales', properties.bootstrap.server = 'localhost:9092')
  FORMAT PLAIN ENCODE JSON;
CREATE MATERIALIZED VIEW IF NOT EXISTS shop.totals (thing, total) AS
  SELECT item, SUM(price) FROM shop.sales GROUP BY item;
CREATE SINK out_of_it FROM shop.totals WITH (connector = 'iceberg');
"""
ESPER = """
create schema Tick (symbol string, price double, volume long);
select symbol, avg(price) as mean from Tick#time(30 sec) group by symbol;
select symbol, sum(price) as total from Tick.std:groupwin(symbol).win:length(5) group by symbol;
select sum(price) as total from Tick.win:time(1 min) output snapshot every 10 seconds;
"""


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def test_flink() -> None:
    found = translate(FLINK, "flink")
    assert lines(found.text)[0] == (
        "CREATE STREAM readings (room STRING, celsius DOUBLE, ts TIMESTAMP(3)) TIME ts LATENESS 5 "
        "SECOND FROM jsonl('readings.jsonl')"
    )
    job, problems = checked_job(found.text)
    assert not problems
    assert list(job.queries) == ["shown"]
    assert list(job.views) == ["warm"]


def test_statements_stay_in_their_lines() -> None:
    found = translate(FLINK, "flink")
    for word in ("FROM warm GROUP BY", "WHERE celsius > 20"):
        before, after = (text[: text.index(word)].count("\n") for text in (FLINK, found.text))
        assert before == after


def test_ksqldb() -> None:
    found = translate(KSQLDB, "ksqldb")
    assert "'page ' || url" in found.text
    assert "PARTITION" not in found.text
    assert found.arrival_timed == ("clicks",)
    assert [note.line for note in found.notes][:1] == [2]


def test_schemas_are_left_out_and_columns_of_views_named() -> None:
    found = translate(RISINGWAVE, "risingwave")
    assert "shop" not in found.text
    job, problems = checked_job(found.text, needs_sources=False)
    assert not problems
    assert [field.name for field in job.views["totals"].plan.outputs] == ["thing", "total"]
    assert list(job.queries) == ["out_of_it"]
    assert "DECIMAL(28, 10)" in found.text


def test_windows_of_esper() -> None:
    found = translate(ESPER, "esper")
    for bracket in ("[30 SECONDS]", "[PARTITION BY symbol ROWS 5]", "EVERY (10 SECONDS)"):
        assert bracket in found.text
    assert len(parse_script(found.text)) == 4


def test_what_has_no_like_is_noted() -> None:
    found = translate("SET 'x.y' = '1';\nUSE CATALOG c;\nCREATE FUNCTION f AS 'a.B';", "flink")
    assert not found.text.strip(" ;\n")
    assert [(note.line, note.text.split()[0]) for note in found.notes] == [
        (1, "the"), (2, "there"), (3, "functions"),
    ]  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_query_that_is_ours_stays_as_it_is(dialect: str) -> None:
    text = "SELECT k, COUNT(*) AS n FROM s WHERE x > 1 GROUP BY k"
    assert translate(text, dialect).text == text


def test_digits_of_intervals_say_nothing() -> None:
    found = translate("SELECT TUMBLE_END(ts, INTERVAL '365' DAY(3)) AS e FROM s", "flink")
    assert found.text.split() == [
        "SELECT",
        "TUMBLE_END(ts,",
        "INTERVAL",
        "'365'",
        "DAY)",
        "AS",
        "e",
        "FROM",
        "s",
    ]


def test_another_dialect_is_refused() -> None:
    with pytest.raises(BindingError, match="WB790") as caught:
        translate("SELECT 1", "oracle")
    assert caught.value.hint is not None
    assert "flink" in caught.value.hint


def test_what_a_function_of_flink_means() -> None:
    found = translate(r"SELECT REGEXP_EXTRACT(a, '\d+') AS n FROM s", "flink")
    assert found.text == r"SELECT nullif(REGEXP_EXTRACT(a, '\\d+', 0), '') AS n FROM s"


def test_comments_and_quotes_hide_semicolons() -> None:
    text = "SELECT ';' AS a; -- no; end\n/* ; */ SELECT 'it''s' AS b"
    assert len(statements_of(text)) == 2
