"""Checkpoints that earlier versions wrote: this one goes on from them, or says clearly why not."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from support.spark.stored_checkpoint import (
    ALONE,
    BATCHES,
    PAST,
    STORED,
    TEXTS,
    keep_past,
    opened,
    unpacked,
)
from support.spark.stream_files import COLUMNS, Files, Sessions, embedded
from windrow.embedded.session import EmbeddedSession
from windrow.errors import CheckpointError
from windrow.spark.checkpoint.owner import CheckpointOwner

pytestmark = pytest.mark.spark


@pytest.mark.long_spark
@pytest.mark.parametrize("name", sorted(each.name for each in STORED.iterdir()))
def test_a_stored_checkpoint_goes_on(name: str, spark: SparkSession, tmp_path: Path) -> None:
    files = Files(spark, tmp_path / "in")
    files.put_all(BATCHES)  # Spark knows the first ones by their paths, which are those of then
    checkpoint = unpacked(name, tmp_path)
    for query in ALONE:  # the number of the version alone does not matter
        rewritten(checkpoint / query / "windrow.json", windrow="0.0.1")
    sessions = Sessions(spark, checkpoint)
    try:
        session = opened(sessions.open(), files)
        running = {}
        for query in ALONE:  # one after the other, as they were written
            running[query] = session[query].start("memory", trigger="available")
            running[query].await_end()
        shared = [query for query in TEXTS if query not in ALONE]
        running |= session.start(dict.fromkeys(shared, "memory"), "available")
        keep_past(session)
        session.finish()
        for query, text in TEXTS.items():
            expected, _ = embedded(text, BATCHES)
            found = running[query].answers().to_pylist()
            assert found, query
            every = expected.answers().to_pylist()
            assert same(found) == same(every[len(every) - len(found) :]), query
            assert same(running[query].result().to_pylist()) == same(expected.result().to_pylist())
        assert same(session.ask(PAST).to_pylist()) == same(past_in_process())
    finally:
        for each in sessions.opened:
            each.stop()


def same(rows: list[dict[str, Any]]) -> list[str]:
    """Rows of one instant have no order among themselves."""
    return sorted(map(repr, rows))


def past_in_process() -> list[dict[str, Any]]:
    session = EmbeddedSession()
    session.stream("h", COLUMNS, time="ts")
    keep_past(session)
    for batch in BATCHES:
        session.push("h", batch["h"])
    session.finish()
    return list(session.ask(PAST).to_pylist())


def rewritten(owner: Path, **facts: Any) -> None:
    """The owner file with other facts, and a checksum that is right."""
    parts = {**json.loads(owner.read_bytes()), **facts}
    del parts["checksum"]
    checksum = f"{zlib.crc32(json.dumps(parts, sort_keys=True).encode()):08x}"
    owner.write_bytes(json.dumps({**parts, "checksum": checksum}).encode())


@pytest.mark.parametrize("name", sorted(each.name for each in STORED.iterdir()))
def test_a_format_that_is_not_known_is_refused(name: str, tmp_path: Path) -> None:
    owner = unpacked(name, tmp_path) / "rooms" / "windrow.json"
    rewritten(owner, windrow="9.0.0")
    assert CheckpointOwner.from_bytes(owner.read_bytes(), "rooms").windrow == "9.0.0"
    rewritten(owner, windrow="9.0.0", format=99)
    with pytest.raises(CheckpointError, match=r"(?s)WC210.*format 99, written by Windrow 9.0.0"):
        CheckpointOwner.from_bytes(owner.read_bytes(), "rooms")


def test_stored_checkpoints_are_small() -> None:
    assert 0 < sum(each.stat().st_size for each in STORED.iterdir()) < 200_000
