"""A checkpoint that is kept with the tests: later versions must go on from what this one wrote.

A join with groups, a tree, two queries that share an operator, and a history, after two batches.
Where a format changes, the old checkpoint stays and another one comes beside it:

    cd tests && PYTHONPATH=../src:. python -m support.spark.stored_checkpoint NAME.tar.xz

Spark writes where its files lie into some of them: in the archive a word stands for the folder.
"""

from __future__ import annotations

import io
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from support.spark.stream_files import Files, random_batches
from windrow.embedded.session import EmbeddedSession
from windrow.spark.driver.session import SparkWindrowSession
from windrow.spark.settings import local_session

__all__ = ["ALONE", "BATCHES", "PAST", "SEEN", "STORED", "TEXTS", "keep_past", "opened", "unpacked"]

STORED = Path(__file__).parent / "stored"
BATCHES = random_batches(4, seed=77)
SEEN = 2  # batches that the checkpoint has

JOIN = "FROM h [8 SECONDS], c [5 SECONDS] WHERE h.room = c.room"
ALONE = ("rooms", "padded")
TEXTS = {
    "rooms": f"SELECT h.room, COUNT(*) AS n, SUM(c.value) AS t {JOIN} GROUP BY h.room",
    "padded": """SELECT h.room, h.value, c.value AS other FROM h [3 SECONDS]
                 LEFT JOIN c [1 SECOND] ON h.room = c.room AND h.value = c.value""",
    "least": f"SELECT h.room, MIN(h.value) AS v {JOIN} GROUP BY h.room EVERY (2 SECONDS)",
    "means": f"SELECT h.room, AVG(c.value) AS m {JOIN} GROUP BY h.room HAVING COUNT(*) > 9",
}
PAST = """SELECT room, COUNT(*) AS n, SUM(value) AS s FROM HISTORY(h)
          [FROM '1970-01-01' TO '1970-01-01 00:00:35'] GROUP BY room"""
# What belongs to one machine, and nobody needs to go on.
_LEFT_OUT = ("driver.json", "driver.lock")
_FOLDER = b"/@FOLDER@"


def opened(session: SparkWindrowSession, files: Files) -> SparkWindrowSession:
    """The session with its streams and queries, as when it began."""
    for stream in ("h", "c"):
        session.stream(stream, files.stream(stream), time="ts")
    for name, text in TEXTS.items():
        session.query(text, name=name)
    return session


def keep_past(session: SparkWindrowSession | EmbeddedSession) -> None:
    """The history of a stream."""
    levels: list[Any] = [("1 second", "30 seconds"), ("10 seconds", "forever")]
    session.history("h", measures=["value"], by=["room"], levels=levels)


def unpacked(name: str, folder: Path) -> Path:
    """A stored checkpoint in a folder of its own."""
    with tarfile.open(STORED / name) as archive:
        archive.extractall(folder, filter="data")
    for path in (folder / "checkpoint").rglob("*"):
        if path.is_file() and _FOLDER in (data := path.read_bytes()):
            path.write_bytes(data.replace(_FOLDER, bytes(folder)))
    return folder / "checkpoint"


def _written(folder: Path) -> None:
    """Runs all of them over the first batches."""
    spark = local_session(cores=2)
    files = Files(spark, folder / "in")
    files.put_all(BATCHES[:SEEN])
    session = SparkWindrowSession(spark, checkpoint=folder / "checkpoint", buckets=2)
    opened(session, files)
    # One after the other: on a busy machine Python processes would come too late for Spark.
    for name in ALONE:
        session[name].start("memory", trigger="available").await_end()
    shared = session.start({name: "memory" for name in TEXTS if name not in ALONE}, "available")
    for query in shared.values():
        query.await_end()
    keep_past(session)
    session.ask(PAST)
    session.stop()
    spark.stop()


def _packed(folder: Path, target: Path) -> None:
    files = [each for each in sorted((folder / "checkpoint").rglob("*")) if each.is_file()]
    placed = {each for each in files if bytes(folder) in each.read_bytes()}
    target.parent.mkdir(exist_ok=True)
    with tarfile.open(target, "w:xz") as archive:
        for path in files:
            # Hadoop checks the bytes of a file where it finds their sums beside it.
            checked = path.with_name(path.name.removeprefix(".").removesuffix(".crc"))
            if path.name in _LEFT_OUT or (path != checked and checked in placed):
                continue
            data = path.read_bytes().replace(bytes(folder), _FOLDER)
            entry = tarfile.TarInfo(str(path.relative_to(folder)))
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        _written(Path(made))
        _packed(Path(made), STORED / sys.argv[1])
