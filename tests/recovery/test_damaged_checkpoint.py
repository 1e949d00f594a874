"""Each file of a real checkpoint damaged in turn: refused, or the answers are the same.

Bytes are flipped, cut off or taken away altogether, in our files and in Spark's.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.recovery import processes
from support.spark.stream_files import Files, Sessions, random_batches, read_sink
from windrow import sinks
from windrow.errors import WindrowError

pytestmark = [pytest.mark.recovery, pytest.mark.spark]

JOIN = """SELECT h.room, COUNT(*) AS n, SUM(c.value) AS s FROM h [8 SECONDS], c [5 SECONDS]
          WHERE h.room = c.room GROUP BY h.room"""
BATCHES, BEFORE = 8, 6

Rows = list[dict[str, object]]


@dataclass
class Checkpoint:
    """A checkpoint of a query that was stopped in the middle of its input, as often as wanted."""

    files: Files
    sessions: Sessions
    out: Path
    kept: Path

    @property
    def folder(self) -> Path:
        return self.sessions.folder("q")

    def first_part(self) -> None:
        self.files.put_all(random_batches(BATCHES, seed=71)[:BEFORE])
        session = self.sessions.open(self.files, buckets=2)
        session.query(JOIN, name="q").start(
            sinks.parquet(self.out, feed="changes"), trigger="available"
        ).await_end()
        session.advance("h", to=(10 * BEFORE - 1) * 1_000_000)
        session.stop()
        shutil.copytree(self.folder, self.kept / "checkpoint")
        shutil.copytree(self.out, self.kept / "out")
        self.files.put_all(random_batches(BATCHES, seed=71)[BEFORE:])

    def second_part(self) -> Rows:
        """What is told in all; live shards in workers must not hide what the state store holds."""
        processes.end(processes.workers(os.getpid()))
        while True:
            try:
                return self._told()
            except WindrowError as error:
                # Spark gives a Python process ten seconds to start, which a busy machine may lack.
                if "failed to connect back" not in str(error):
                    raise

    def _told(self) -> Rows:
        session = self.sessions.open(self.files, buckets=2)
        try:
            query = session.query(JOIN, name="q")
            query.start(sinks.parquet(self.out, feed="changes"), trigger="available")
            query.await_end()
        finally:
            session.stop()
        return read_sink(self.out).to_pylist()

    def restore(self) -> None:
        for place, copy in ((self.folder, "checkpoint"), (self.out, "out")):
            shutil.rmtree(place)
            shutil.copytree(self.kept / copy, place)

    def paths(self, chance: random.Random) -> Iterator[Path]:
        """Of each kind of file the newest one, which counts, and one other; or all of them."""
        kinds: dict[str, list[Path]] = {}
        for path in sorted((self.kept / "checkpoint").rglob("*"), key=_naturally):
            if path.is_file():
                inside = path.relative_to(self.kept / "checkpoint")
                kinds.setdefault(_kind(inside), []).append(inside)
        for *others, newest in kinds.values():
            if "RECOVERY_ALL" in os.environ:
                yield from others
            elif others:
                yield chance.choice(others)
            yield newest


def _naturally(path: Path) -> list[tuple[int, str]]:
    """A key by which numbers in names are in the order of numbers."""
    return [(int(digits or 0), text) for text, digits in re.findall(r"(\D*)(\d*)", str(path))]


def _kind(path: Path) -> str:
    """The path without what tells files of a kind apart: numbers, and names made at random."""
    return re.sub(r"[0-9a-f]{8}[0-9a-f-]*|\d+", "N", str(path))


def flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(3):
        if data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def cut(path: Path, chance: random.Random) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: chance.randrange(len(data))] if data else b"")


def lose(path: Path, _chance: random.Random) -> None:
    path.unlink()


DAMAGES: tuple[Callable[[Path, random.Random], None], ...] = (flip, cut, lose)


@pytest.fixture(scope="module")
def checkpoint(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    root = tmp_path_factory.mktemp("damaged")
    made = Checkpoint(
        Files(spark, root / "in"), Sessions(spark, root / "made"), root / "out", root / "kept"
    )
    made.first_part()
    return made


def test_no_damage_changes_answers_in_silence(checkpoint: Checkpoint) -> None:
    seed = int(os.environ.get("RECOVERY_SEED", random.randrange(2**32)))
    sys.stdout.write(f"seed {seed}\n")
    chance = random.Random(seed)
    expected = checkpoint.second_part()
    wrong: list[str] = []
    paths = list(checkpoint.paths(chance))
    chance.shuffle(paths)
    for path in paths:
        damage = chance.choice(DAMAGES)
        checkpoint.restore()
        damage(checkpoint.folder / path, chance)
        try:
            is_same = checkpoint.second_part() == expected
            outcome = "same answers" if is_same else "OTHER ANSWERS"
        except WindrowError as error:
            outcome = str(error).replace("\n", " ")
            is_same = error.code.startswith("WC")
        sys.stdout.write(f"{damage.__name__} {path}: {outcome}\n")
        sys.stdout.flush()
        if not is_same:
            wrong.append(f"{damage.__name__} {path}: {outcome}")
    assert not wrong, "\n".join(wrong)
