"""Columns of all types from files and in sinks: values arrive, or an error names the column."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from support.nested_forms import COLUMNS, JSON_ROW, STREAMS, in_process, planned
from windrow import sinks, sources
from windrow.apps.terminal.json_rows import as_json
from windrow.apps.terminal.rows import shown_column
from windrow.connectors.contract import Writer
from windrow.errors import DataError, UnsupportedError
from windrow.rows.json_texts import json_texts
from windrow.schema import StreamSchema, columns_of
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.storage import Storage

TEXT = "SELECT * FROM n [3 SECONDS]"
WITHOUT_SPANS = "SELECT k, bin, big, months, local, a, m, st, ar FROM n [3 SECONDS]"


def opened(sink: sinks.Sink, text: str, tmp_path: Path) -> Writer:
    return sink.open_on_spark(planned(text), QueryCheckpoint(Storage(tmp_path / "state"), "q"))


def test_parquet_files_hold_every_type(tmp_path: Path) -> None:
    answers = in_process(TEXT).answers
    opened(sinks.parquet(tmp_path / "out"), TEXT, tmp_path).write({"answers": answers}, 0)
    (file,) = (tmp_path / "out").glob("*.parquet")
    assert pq.read_table(file).equals(answers)


def test_delta_tables_hold_all_but_spans(tmp_path: Path) -> None:
    changes = in_process(WITHOUT_SPANS).changes
    sink = sinks.delta(tmp_path / "table", "changes")
    opened(sink, WITHOUT_SPANS, tmp_path).write({"changes": changes}, 0)
    found = pa.table(DeltaTable(str(tmp_path / "table")).to_pyarrow_table())
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, changes.to_pylist()))
    with pytest.raises(UnsupportedError, match=r"WU725.*column 'day' is INTERVAL DAY TO SECOND"):
        opened(sinks.delta(tmp_path / "other"), TEXT, tmp_path)
    assert not (tmp_path / "other").exists()


def test_consoles_show_nested_values_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = in_process(TEXT).answers
    opened(sinks.console(), TEXT, tmp_path).write({"answers": answers}, 0)
    told = capsys.readouterr().out
    assert '{"k": 1, "z": null}' in told
    assert "00FF" in told
    assert '{"x": 0, "y": {"z": "é", "w": 0.0}}' in shown_column(answers.column("st"))
    assert "00FF" in shown_column(answers.column("bin"))


def test_json_lines_hold_every_type() -> None:
    lines = [json.loads(line) for line in as_json(in_process(TEXT).answers)]
    assert {"k": 1, "z": None} in [line["m"] for line in lines]
    assert "AP8=" in [line["bin"] for line in lines]
    pairs = next(line["ar"] for line in lines if line["ar"])
    assert pairs == [{"p": "-1.50", "q": "2026-01-01T00:00:00Z", "r": "1969-12-31"}, None]


def test_json_keeps_digits_and_says_what_json_has_not() -> None:
    kind = pa.struct([("d", pa.decimal128(38, 2)), ("f", pa.float64()), ("s", pa.duration("us"))])
    row = {"d": Decimal("12345678901234567890.12"), "f": float("nan")}
    (text,) = json_texts(pa.array([row], kind))
    assert text == '{"d": 12345678901234567890.12, "f": "NaN", "s": null}'
    maps = pa.array([[(1, 1_000_000)]], pa.map_(pa.int32(), pa.duration("us")))
    assert json_texts(maps) == ['{"1": "INTERVAL \'0 00:00:01\' DAY TO SECOND"}']


def test_lines_of_json_hold_every_type(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(JSON_ROW) + "\n")
    ((rows, _),) = sources.jsonl(file).read(STREAMS["n"])
    (row,) = rows.batch.to_pylist()
    assert (row["bin"], row["months"]) == (b"\x00\xff", 14)
    assert row["day"] == timedelta(days=1, microseconds=1)
    assert json_texts(rows.batch.column("st")) == ['{"x": 1, "y": {"z": "é", "w": 1.5}}']
    assert row["m"] == [("k", 1), ("z", None)]
    assert str(row["ar"][0]["p"]) == "-1.50"


@pytest.mark.parametrize("name", ["day", "months", "a", "st", "m", "bin"])
def test_a_value_of_another_type_is_named_with_line_and_column(name: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(f"{json.dumps(JSON_ROW)}\n{json.dumps({**JSON_ROW, name: 'x-'})}\n")
    with pytest.raises(DataError, match=rf"WD506.*line 2, column \d+ \('{name}'\): 'x-' is not"):
        list(sources.jsonl(file).read(STREAMS["n"]))


def test_intervals_are_read_from_csv(tmp_path: Path) -> None:
    schema = StreamSchema("s", columns_of("ts timestamp, d interval day to second"), "ts")
    file = tmp_path / "rows.csv"
    file.write_text("ts,d\n2026-01-01T00:00:00Z,1 00:00:01\n2026-01-01T00:00:01Z,\n")
    ((rows, _),) = sources.csv(file).read(schema)
    assert [str(row["d"]) for row in rows.batch.to_pylist()] == ["1 day, 0:00:01", "None"]
    file.write_text("ts,d\n2026-01-01T00:00:00Z,1 00:00:01\n2026-01-01T00:00:01Z,soon\n")
    with pytest.raises(DataError, match=r"WD506.*line 3, column 2 \('d'\): 'soon' is not INTERVAL"):
        list(sources.csv(file).read(schema))
    nested = StreamSchema("s", columns_of(COLUMNS), "ts")
    with pytest.raises(UnsupportedError, match=r"WU723.*'a'"):
        sources.csv(file).check(nested)
