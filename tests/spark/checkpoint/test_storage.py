from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from support.streams import plan_of
from windrow.errors import CheckpointError
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import QueryPlan
from windrow.spark.checkpoint.owner import CheckpointOwner
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.driver.kept_rows import KEPT_ROWS_LIMIT, KeptRows
from windrow.storage import Storage

PLAN = plan_of("SELECT a.k AS k, COUNT(*) AS n FROM a [1 MINUTE] GROUP BY a.k")
SELECT = plan_of("SELECT a.k AS k, a.s AS s FROM a [1 MINUTE]")
TABLE = pa.table({"n": [1, 2]})


@pytest.mark.parametrize("as_uri", [False, True])
def test_files_are_written_whole_read_listed_and_removed(tmp_path: Path, as_uri: bool) -> None:
    storage = Storage(tmp_path.as_uri() if as_uri else tmp_path).inside("in")
    storage.write("b", b"two")
    storage.write("a", b"one")
    storage.write("a", b"1")
    assert storage.names() == ["a", "b"]
    assert storage.read("a") == b"1"
    storage.remove("a")
    storage.remove("a")
    assert storage.read("a") is None
    assert sorted(path.name for path in (tmp_path / "in").iterdir()) == ["b"]


def test_a_file_that_cannot_be_read_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(CheckpointError, match="WC203"):
        Storage(tmp_path).read("folder")


def test_a_folder_that_cannot_be_written_to_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"WC206.*file/in cannot be written"):
        Storage(tmp_path / "file" / "in")
    (tmp_path / "folder").mkdir()
    with pytest.raises(CheckpointError, match=r"WC206.*folder cannot be written"):
        Storage(tmp_path).write("folder", b"")


def claim(checkpoint: QueryCheckpoint, plan: QueryPlan = PLAN, buckets: int = 2) -> None:
    checkpoint.claim(fingerprint(plan), buckets, 1, plan)


def test_a_checkpoint_knows_its_owner(tmp_path: Path) -> None:
    checkpoint = QueryCheckpoint(Storage(tmp_path), "q")
    assert checkpoint.claimed_buckets() is None
    claim(checkpoint)
    claim(checkpoint)
    assert checkpoint.claimed_buckets() == 2


@pytest.mark.parametrize(
    ("plan", "buckets", "words"),
    [(SELECT, 2, r"kind of query: aggregate, now select"), (PLAN, 3, "number of buckets is 2")],
)
def test_a_checkpoint_of_something_else_is_refused(
    tmp_path: Path, plan: QueryPlan, buckets: int, words: str
) -> None:
    checkpoint = QueryCheckpoint(Storage(tmp_path), "q")
    claim(checkpoint)
    with pytest.raises(CheckpointError, match=rf"WC210.*{words}"):
        claim(checkpoint, plan, buckets)


def test_another_version_is_named(tmp_path: Path) -> None:
    checkpoint = QueryCheckpoint(Storage(tmp_path), "q")
    claim(checkpoint)
    path = tmp_path / "q" / "windrow.json"
    owner = CheckpointOwner.from_bytes(path.read_bytes(), "q")
    older = {"format": 2, "plan": {}}
    other = replace(owner, windrow="0.0.7", plan=older, fingerprint="x")
    path.write_bytes(other.to_bytes())
    with pytest.raises(CheckpointError, match=r"WC210.*format 2, written by Windrow 0\.0\.7"):
        claim(checkpoint)
    path.write_bytes(replace(owner, format=2, windrow="0.0.7").to_bytes())
    with pytest.raises(CheckpointError, match=r"WC210.*format 2, written by Windrow 0\.0\.7"):
        claim(checkpoint)


@pytest.mark.parametrize("text", ["{", "[]", json.dumps({"format": 4})])
def test_a_damaged_owner_is_refused(tmp_path: Path, text: str) -> None:
    checkpoint = QueryCheckpoint(Storage(tmp_path), "q")
    (tmp_path / "q" / "windrow.json").write_text(text)
    with pytest.raises(CheckpointError, match="WC211"):
        claim(checkpoint)


def test_a_checkpoint_keeps_its_name(tmp_path: Path) -> None:
    checkpoint = QueryCheckpoint(Storage(tmp_path), "q")
    name = checkpoint.identity()
    claim(checkpoint)
    assert checkpoint.identity() == name
    path = tmp_path / "q" / "identity.txt"
    path.write_bytes(path.read_bytes().replace(name[:1].encode(), b"x", 1))
    with pytest.raises(CheckpointError, match=r"WC211.*identity\.txt.*damaged"):
        checkpoint.identity()
    path.unlink()
    with pytest.raises(CheckpointError, match=r"WC211.*lost identity\.txt"):
        claim(checkpoint)


def test_a_checkpoint_is_swept_in_all_its_places(tmp_path: Path) -> None:
    checkpoint = QueryCheckpoint(Storage(tmp_path), "q")
    for folder in ("", "control", Path(checkpoint.publish.location).name):
        (tmp_path / "q" / folder / f".half.{'0' * 32}").write_bytes(b"")
    checkpoint.sweep()
    assert not [path for path in (tmp_path / "q").rglob("*") if path.is_file()]


def test_a_lost_owner_is_missed(tmp_path: Path) -> None:
    checkpoint = QueryCheckpoint(Storage(tmp_path), "q")
    claim(checkpoint)
    (tmp_path / "q" / "windrow.json").unlink()
    (tmp_path / "q" / "spark").mkdir()
    with pytest.raises(CheckpointError, match=r"WC211.*lost"):
        claim(checkpoint)


def test_kept_rows_stay_within_their_limit() -> None:
    kept = KeptRows(TABLE.schema)
    assert kept.table().num_rows == 0
    for start in range(0, KEPT_ROWS_LIMIT + 2_500, 1_000):
        kept = kept.with_rows(pa.table({"n": list(range(start, start + 1_000))}))
    numbers = kept.table().column("n").to_pylist()
    assert numbers == list(range(KEPT_ROWS_LIMIT + 3_000))[-KEPT_ROWS_LIMIT:]
