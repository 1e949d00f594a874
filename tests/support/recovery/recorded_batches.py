"""What each batch of a query was, read from the checkpoint that Spark wrote: rows and orders."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from windrow.spark.shuffle.control import packet_of_line
from windrow.spark.shuffle.packets import Packet

__all__ = ["CONTROL", "KEPT_ORDERS", "RecordedBatch", "committed_batches", "recorded_batches"]

CONTROL = "control"
KEPT_ORDERS = "orders-kept"  # beside it, by the job that is killed


@dataclass
class RecordedBatch:
    """The files that Spark gave to one batch, by stream, and the orders."""

    files: dict[str, list[Path]] = field(default_factory=dict)
    orders: list[Packet] = field(default_factory=list)

    def tables(self) -> dict[str, pa.Table]:
        """The rows of each stream."""
        return {
            stream: pa.concat_tables([pq.read_table(path) for path in paths])
            for stream, paths in self.files.items()
        }


def recorded_batches(folder: Path) -> list[RecordedBatch]:
    """All batches of the query whose checkpoint lies in the folder, in order."""
    logs = [_source_log(source) for source in _numbered(folder / "spark" / "sources")]
    before = [-1] * len(logs)
    made = []
    for path in _numbered(folder / "spark" / "offsets"):
        batch = RecordedBatch()
        reached = [_log_offset(line) for line in path.read_text().splitlines()[2:]]
        for log, start, end in zip(logs, before, reached, strict=True):
            for file in (file for number in range(start + 1, end + 1) for file in log[number]):
                if file.parent.name == CONTROL:
                    kept = file.parent.with_name(KEPT_ORDERS) / file.name
                    batch.orders += map(packet_of_line, kept.read_text().splitlines())
                else:
                    batch.files.setdefault(file.parent.name, []).append(file)
        before = [max(pair) for pair in zip(before, reached, strict=True)]
        made.append(batch)
    return made


def committed_batches(folder: Path) -> int:
    """How many batches Spark has committed."""
    return len(list(_numbered(folder / "spark" / "commits")))


def _log_offset(line: str) -> int:
    return -1 if line == "-" else int(json.loads(line)["logOffset"])


def _source_log(folder: Path) -> dict[int, list[Path]]:
    """The files that one source has given, by the number of its log."""
    found: dict[int, set[Path]] = {}
    for log in folder.iterdir():
        if log.name[0].isdigit():
            for line in log.read_text().splitlines()[1:]:
                entry = json.loads(line)
                path = Path(unquote(urlsplit(entry["path"]).path))
                found.setdefault(entry["batchId"], set()).add(path)
    return {number: sorted(paths) for number, paths in found.items()}


def _numbered(folder: Path) -> Iterator[Path]:
    """The entries whose names are numbers, in order."""
    names = (path.name for path in folder.iterdir()) if folder.exists() else ()
    return (
        folder / str(number) for number in sorted(int(name) for name in names if name.isdigit())
    )
