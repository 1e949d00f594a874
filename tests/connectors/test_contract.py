"""Every connector keeps the contract: found by its name, described, true about repeated batches."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from support.streams import plan_of
from windrow import sinks, sources
from windrow.connectors import registry
from windrow.connectors.contract import Sink, Source
from windrow.connectors.http.connector import HttpSource
from windrow.connectors.process_run import ProcessRun
from windrow.errors import BindingError, DataError, UnsupportedError
from windrow.jobs.job import job_of
from windrow.schema import StreamSchema, columns_of

PLAN = plan_of("SELECT a.k AS k, COUNT(*) AS n FROM a [1 MINUTE] GROUP BY a.k")
SCHEMA = StreamSchema("a", columns_of("ts timestamp, k int"), "ts", 0)

DESCRIBED_SOURCES = {
    "adbc": (
        "adbc('t', driver = 'sqlite', url = 'u', position = 'id')",
        sources.adbc("t", "sqlite", "u", "id"),
    ),
    "parquet": ("parquet('in')", sources.parquet("in")),
    "csv": ("csv('in', delimiter = ';')", sources.csv("in", delimiter=";")),
    "jsonl": ("jsonl('in', files_per_batch = 2)", sources.jsonl("in", files_per_batch=2)),
    "http": ("http(waiting = '1 MB')", HttpSource("1 MB")),
    "kafka": ("kafka('t', servers = 'h:1')", sources.kafka("t", "h:1")),
    "mqtt": (
        "mqtt('t/#', server = 'mqtt://h', client = 'c')",
        sources.mqtt("t/#", "mqtt://h", "c"),
    ),
    "postgres": (
        "postgres('t', url = 'u', position = 'id')",
        sources.postgres("t", "u", "id"),
    ),
    "postgres_changes": (
        "postgres_changes('t', url = 'u')",
        sources.postgres_changes("t", "u"),
    ),
    "rate": ("rate(rows_per_second = 3)", sources.rate(3)),
    "socket": ("socket('h', port = 7)", sources.socket("h", 7)),
    "spark_table": (
        "spark_table('r', format = 'jdbc', options.url = 'u')",
        sources.spark_table("r", "jdbc", {"url": "u"}),
    ),
    "stdin": ("stdin(format = 'csv')", sources.stdin("csv")),
    "tcp": ("tcp(7)", sources.tcp(7)),
    "udp": ("udp(7)", sources.udp(7)),
    "unix": ("unix('s')", sources.unix("s")),
}
DESCRIBED_SINKS = {
    "console": ("console()", sinks.console()),
    "csv": ("csv('out', delimiter = ';')", sinks.csv("out", delimiter=";")),
    "delta": ("delta('out')", sinks.delta("out")),
    "duckdb": ("duckdb('t', path = 'x.duckdb')", sinks.duckdb("x.duckdb", "t")),
    "iceberg": (
        "iceberg('a.b', catalog.uri = 'sqlite://')",
        sinks.iceberg("a.b", options={"catalog.uri": "sqlite://"}),
    ),
    "jsonl": (
        "jsonl('out', partition_by = 'date, k', batches_per_file = 3)",
        sinks.jsonl("out", batches_per_file=3, partition_by=["date", "k"]),
    ),
    "kafka": ("kafka('t', servers = 'h:1')", sinks.kafka("t", "h:1")),
    "memory": ("memory()", sinks.memory()),
    "parquet": ("parquet('out', feed = 'changes')", sinks.parquet("out", "changes")),
    "postgres": ("postgres('t', url = 'u')", sinks.postgres("u", "t")),
    "slack": (
        "slack('https://h/x', timeout = '3 seconds')",
        sinks.slack("https://h/x", timeout_s=3),
    ),
    "sqlite": ("sqlite('t', path = 'x.db', key = 'k')", sinks.sqlite("x.db", "t", key=["k"])),
    "webhook": (
        "webhook('https://h/x', retries = 3, header.a = 'b')",
        sinks.webhook("https://h/x", retries=3, headers={"a": "b"}),
    ),
}


def script(source: str = "parquet('in')", sink: str = "console()") -> str:
    return f"""
        CREATE STREAM a (ts TIMESTAMP, k BIGINT) TIME ts FROM {source};
        CREATE QUERY q AS SELECT COUNT(*) AS n FROM a [1 MINUTE] INTO {sink};"""


class Checkpoint:
    """That of a query which has not begun."""

    query = "q"
    is_lasting = True

    def identity(self) -> str:
        return "one"

    def is_begun(self) -> bool:
        return False


def test_every_name_is_tried_here() -> None:
    assert DESCRIBED_SOURCES.keys() == registry.SOURCES.keys()
    assert DESCRIBED_SINKS.keys() == registry.SINKS.keys()


@pytest.mark.parametrize("name", registry.SOURCES)
def test_a_source_is_found_by_its_name(name: str) -> None:
    text, described = DESCRIBED_SOURCES[name]
    found = job_of(script(source=text)).streams["a"].source
    assert found == described
    assert isinstance(found, Source)
    assert found.place is not None
    assert found.shown.startswith(f"{name}(")


@pytest.mark.parametrize("name", registry.SINKS)
def test_a_sink_is_found_by_its_name(name: str) -> None:
    text, described = DESCRIBED_SINKS[name]
    found = job_of(script(sink=text)).queries["q"].sink
    assert found == described
    assert isinstance(found, Sink)


@pytest.mark.parametrize(
    ("modules", "table"), [(registry.SOURCES, "SOURCES"), (registry.SINKS, "SINKS")]
)
def test_the_registry_names_all_that_modules_have(modules: dict[str, str], table: str) -> None:
    had = {
        name: module
        for module in modules.values()
        for name in getattr(importlib.import_module(module), table)
    }
    assert had == modules


@pytest.mark.parametrize(("source", "name"), [("kafke('t')", "kafka"), ("nowhere('t')", "socket")])
def test_an_unknown_source_is_refused(source: str, name: str) -> None:
    with pytest.raises(BindingError, match="WB510") as raised:
        job_of(script(source=source))
    assert name in (raised.value.hint or "")


@pytest.mark.parametrize("given", [3, sources.Rate, sinks.memory(), "rate"])
def test_what_is_no_source_is_refused(given: object) -> None:
    with pytest.raises(BindingError, match="WB441"):
        sources.source_given(given)


@pytest.mark.parametrize("name", registry.SOURCES)
def test_a_source_is_read_in_this_process_or_refused(name: str) -> None:
    source = DESCRIBED_SOURCES[name][1]
    if not source.in_process:
        with pytest.raises(UnsupportedError, match=r"WU502.*'a'"):
            source.read(SCHEMA)


@pytest.mark.parametrize("name", registry.SINKS)
def test_a_sink_is_written_or_shown_in_this_process_or_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sink = DESCRIBED_SINKS[name][1]
    if not sink.in_process:
        with pytest.raises(UnsupportedError, match=r"WU503.*'q'"):
            sink.open_in_process(ProcessRun("q", PLAN))
    elif name == "kafka":
        with pytest.raises(DataError, match="WD481"):
            sink.open_in_process(ProcessRun("q", PLAN))
    elif name == "postgres":
        with pytest.raises(BindingError, match="WB448"):
            sink.open_in_process(ProcessRun("q", PLAN))
    elif sink.shows is None:
        writer = sink.open_in_process(ProcessRun("q", PLAN))
        assert writer.feeds
        writer.close()


def test_functions_are_sinks_on_spark_alone() -> None:
    for sink in (sinks.foreach(print), sinks.upserts(print), sinks.foreach_batch(print)):
        with pytest.raises(UnsupportedError, match=r"WU503.*'q'"):
            sink.open_in_process(ProcessRun("q", PLAN))


def seen_in(sink: Sink, said: list[Any], capsys: pytest.CaptureFixture[str]) -> int:
    """How many rows have reached a sink."""
    if isinstance(sink, sinks.Parquet):
        return int(pq.read_table(sink.path).num_rows)
    if isinstance(sink, sinks.Delta):
        return int(DeltaTable(sink.path).to_pyarrow_table().num_rows)
    return len(said) or capsys.readouterr().out.count("batch 5")


@pytest.mark.parametrize(
    ("name", "replay"),
    [
        ("parquet", "replaced"),
        ("delta", "known"),
        ("memory", "known"),
        ("console", "repeated"),
        ("foreach", "repeated"),
        ("upserts", "repeated"),
    ],
)
def test_a_batch_that_comes_again_does_what_the_sink_says(
    name: str, replay: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[Any] = []
    described: dict[str, Sink] = {
        "parquet": sinks.parquet(tmp_path / "out"),
        "delta": sinks.delta(tmp_path / "out"),
        "memory": sinks.memory(),
        "console": sinks.console(),
        "foreach": sinks.foreach(lambda *given: said.append(given)),
        "upserts": sinks.upserts(lambda *given: said.append(given)),
    }
    sink = described[name]
    assert sink.replay == replay
    row = pa.table({"k": [7], "n": [1]})
    changes = pa.table({"at": [1], "change": [1], "k": [7], "n": [1]})
    first = sink.open_on_spark(PLAN, Checkpoint())
    # What is held in memory is lost with the driver; a query that was stopped keeps its writer.
    again = first if first.held else sink.open_on_spark(PLAN, Checkpoint())
    for writer in (first, again):
        writer.write({"answers": row, "changes": changes}, 5)
    if first.held is not None:
        reached = first.held.take("answers", row.slice(0, 0)).num_rows
    else:
        reached = seen_in(sink, said, capsys)
    assert reached == (2 if replay == "repeated" else 1)


def test_a_transaction_knows_its_batch() -> None:
    assert sinks.kafka("t", "h:1").replay == "known"
    assert sinks.kafka("t", "h:1", transactional=False).replay == "repeated"
    assert sinks.postgres("u", "t").replay == "known"
    assert sinks.iceberg("a.b").replay == "known"
