"""The checkpoint of a history: known again, and refused when it is of something else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from windrow.errors import CheckpointError
from windrow.plan.history_schema import HistorySchema, declared_history
from windrow.schema import StreamSchema, columns_of
from windrow.spark.checkpoint.history_checkpoint import HistoryCheckpoint
from windrow.storage import Storage


def schema_of(*measures: str) -> HistorySchema:
    columns = columns_of("ts timestamp, x int, y int")
    levels = [("1 second", None)]
    return declared_history(StreamSchema("s", columns, "ts"), measures, (), levels, (), (), None)


def test_it_is_taken_once_and_known_again(tmp_path: Path) -> None:
    checkpoint = HistoryCheckpoint(Storage(tmp_path), "s")
    assert checkpoint.claimed_buckets() is None
    for _ in range(2):
        checkpoint.claim(schema_of("x"), 3, None)
    assert HistoryCheckpoint(Storage(tmp_path), "S").claimed_buckets() == 3
    with pytest.raises(CheckpointError, match=r"WC230.*measures \['x'\] then, \['y'\] now"):
        checkpoint.claim(schema_of("y"), 3, None)


def test_one_of_the_format_before_is_refused(tmp_path: Path) -> None:
    checkpoint = HistoryCheckpoint(Storage(tmp_path), "s")
    checkpoint.claim(schema_of("x"), 3, None)
    [owner] = tmp_path.glob("**/windrow.json")
    owner.write_text(json.dumps({**json.loads(owner.read_text()), "format": 1}))
    with pytest.raises(CheckpointError, match=r"WC234.*format 1, this version .* reads 2"):
        checkpoint.claim(schema_of("x"), 3, None)
