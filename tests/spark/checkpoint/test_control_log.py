"""The log of the control stream stays short, and says all that Spark asks of it."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pyarrow as pa
import pytest

from support.spark.stream_files import SCHEMA, SECOND, Files, Sessions
from windrow.spark.checkpoint import control_log
from windrow.spark.checkpoint.control_log import LOGS_KEPT, shorten_log
from windrow.spark.driver import streaming_run
from windrow.storage import Storage

NEWEST = 1_009


def entry(number: int) -> str:
    return json.dumps({"path": f"file:///c/{number}.json", "timestamp": 7, "batchId": number})


@pytest.fixture
def parts(tmp_path: Path) -> tuple[Storage, Storage]:
    """Spark's part of a checkpoint after many orders, of which three are still there."""
    spark, control = Storage(tmp_path / "spark"), Storage(tmp_path / "control")
    for number in (0, 5, NEWEST):
        control.write(f"{number}.json", b"")
    Storage(tmp_path / "spark/sources/0").write("9.compact", b"v1\n")
    logs = Storage(tmp_path / "spark/sources/2")
    for name in ("999.compact", "1009.compact"):
        lines = ["v1", *map(entry, range(int(name.partition(".")[0]) + 1))]
        logs.write(name, "\n".join(lines).encode())
        logs.write(f".{name}.crc", b"crc of it")
    return spark, control


def numbers(data: bytes) -> list[int]:
    version, *lines = data.decode().split("\n")
    assert version == "v1"
    return [json.loads(line)["batchId"] for line in lines]


def test_the_last_orders_and_those_that_are_there_stay(parts: tuple[Storage, Storage]) -> None:
    logs = parts[0].under("sources").under("2")
    before = logs.read("999.compact")
    shorten_log(*parts, bytes_limit=1_000)
    data = logs.read("1009.compact") or b""
    assert numbers(data) == [0, 5, *range(NEWEST - LOGS_KEPT, NEWEST + 1)]
    assert logs.read("999.compact") == before
    sums = logs.read(".1009.compact.crc") or b""
    assert sums[:8] == b"crc\0\0\0\2\0"
    for place, at in enumerate(range(0, len(data), 512)):
        found = int.from_bytes(sums[8 + 4 * place :][:4], "big")
        assert found == zlib.crc32(data[at : at + 512])
    assert len(sums) == 8 + 4 * (place + 1)


def test_a_short_log_is_left_alone(parts: tuple[Storage, Storage]) -> None:
    logs = parts[0].under("sources").under("2")
    before = logs.read("1009.compact")
    shorten_log(*parts, bytes_limit=1 << 18)
    assert logs.read("1009.compact") == before


def test_without_checksums_none_are_written(parts: tuple[Storage, Storage]) -> None:
    logs = parts[0].under("sources").under("2")
    logs.remove(".1009.compact.crc")
    shorten_log(*parts, bytes_limit=1_000)
    assert len(numbers(logs.read("1009.compact") or b"")) == LOGS_KEPT + 3
    assert not logs.has(".1009.compact.crc")


@pytest.mark.parametrize("damaged", [b"v1\nno entry", b'v1\n{"path":"a"}', b"v1\n7", b""])
def test_a_damaged_log_is_left_to_spark(parts: tuple[Storage, Storage], damaged: bytes) -> None:
    logs = parts[0].under("sources").under("2")
    logs.write("1009.compact", damaged)
    shorten_log(*parts, bytes_limit=-1)
    assert logs.read("1009.compact") == damaged


def test_before_the_first_batch_there_is_nothing_to_do(tmp_path: Path) -> None:
    shorten_log(Storage(tmp_path / "spark", make=False), Storage(tmp_path / "control"), 0)


@pytest.mark.long_spark
def test_many_heartbeats_leave_a_short_log(
    files: Files, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming_run, "BATCHES_BETWEEN_LOOKS", 1)
    monkeypatch.setattr(streaming_run, "CONTROL_LOG_BYTES", 0)
    monkeypatch.setattr(control_log, "LOGS_KEPT", 4)
    files.put("h", pa.Table.from_pylist([{"room": "a", "ts": 0, "value": 1.0}], SCHEMA))
    text = "SELECT COUNT(*) AS n FROM h [1 HOUR] EVERY (1 SECOND)"
    answers: list[int] = []
    for first in (1, 14):  # the second time Spark reads what is left of the log
        query = sessions.open(files).query(text, name="q")
        query.start("memory")
        for second in range(first, first + 13):
            query.advance("h", second * SECOND)
            query.run.catch_up()
        answers += query.answers()["at"].cast(pa.int64()).to_pylist()
        query.stop()
    assert answers == [second * SECOND for second in range(27)]
    logs = sessions.folder("q") / "spark/sources/1"
    newest = max(logs.glob("*.compact"), key=lambda path: int(path.stem))
    assert int(newest.stem) >= 19
    assert len(newest.read_text().splitlines()) < 16
