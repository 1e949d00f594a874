"""Small files of a folder put together: those of so many batches, once none of them can come again.

The file that holds several batches takes the name of the last one and replaces its file; then the
others go. What is about to be done is written down first, so that what breaks off is completed
later, and no batch is in the folder twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.parquet as pq

from windrow.storage import Storage

__all__ = ["BATCH_FILE", "MERGED_BYTES_LIMIT", "batch_file", "finish_merge", "merge_committed"]

BATCH_FILE = re.compile(r"batch-\d{12}\.parquet")
# Files that come to more than this together are not small.
MERGED_BYTES_LIMIT = 64 << 20
# In the schema of a file: the first of the batches that were put together in it.
_FIRST = b"windrow.first_batch"
_INTENT = ".merging.json"  # names of files; readers of folders leave such a name out


def batch_file(batch_id: int) -> str:
    """The name of the file of a batch; '' of none."""
    return f"batch-{batch_id:012d}.parquet" if batch_id >= 0 else ""


def merge_committed(folder: Storage, batches_per_file: int, next_batch: int) -> None:
    """Puts files of batches before this one together, so many batches in each file.

    Batches are counted from the first: with 100, those of 0 to 99 come together.
    """
    finish_merge(folder)
    committed = next_batch // batches_per_file * batches_per_file
    sizes = {
        name: size
        for name, size in folder.sizes().items()
        if BATCH_FILE.fullmatch(name) and name < batch_file(committed)
    }
    for names in _groups(sizes, batches_per_file):
        if sum(sizes[name] for name in names) <= MERGED_BYTES_LIMIT:
            _merge(folder, names)


def _groups(sizes: Mapping[str, int], batches_per_file: int) -> Iterator[list[str]]:
    """Names of several files that belong together, in order."""
    groups: dict[int, list[str]] = {}
    for name in sorted(sizes):
        groups.setdefault(_number(name) // batches_per_file, []).append(name)
    return (names for names in groups.values() if len(names) > 1)


def _merge(folder: Storage, names: list[str]) -> None:
    folder.write(_INTENT, json.dumps(names).encode())
    tables = [pq.read_table(pa.BufferReader(folder.read(name) or b"")) for name in names]
    told = {**(tables[-1].schema.metadata or {}), _FIRST: names[0].encode()}
    merged = pa.concat_tables([table.replace_schema_metadata() for table in tables])
    data = pa.BufferOutputStream()
    pq.write_table(merged.replace_schema_metadata(told), data)
    folder.write(names[-1], memoryview(data.getvalue()))
    finish_merge(folder)


def finish_merge(folder: Storage) -> None:
    """Removes what a file has taken in; where none was written, all stays as it is."""
    intent = folder.read(_INTENT)
    if intent is None:
        return
    *taken, into = json.loads(intent)
    data = folder.read(into)
    if data is not None and _first_in(data) == taken[0].encode():
        for name in taken:
            folder.remove(name)
    folder.remove(_INTENT)


def _first_in(data: bytes) -> bytes | None:
    """The name of the first file that another one has taken in; None where it has not."""
    found: bytes | None = (pq.read_schema(pa.BufferReader(data)).metadata or {}).get(_FIRST)
    return found


def _number(name: str) -> int:
    return int(name.removeprefix("batch-").removesuffix(".parquet"))
