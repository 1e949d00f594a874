"""Spark's log of the control stream, kept short: it would name every order that was ever read.

Spark writes each tenth of these logs with all files in it that there have been. It needs those of
the last batches, which it may read again, and those that are still there, so as not to take them
for new. Orders are deleted once they were read: with one heartbeat a second, a log of 13 MB would
be written again every ten seconds after a day.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Iterator

from windrow.storage import Storage

__all__ = ["LOGS_KEPT", "replace_log", "shorten_log"]

# Spark keeps the offsets of 100 batches; a batch has at most one log of a source.
LOGS_KEPT = 200
_COMPACT = ".compact"
_CHECKED_BYTES = 512
_CHECKED = b"crc\0" + _CHECKED_BYTES.to_bytes(4, "big")  # how Hadoop's files of checksums begin


def shorten_log(spark: Storage, control: Storage, bytes_limit: int) -> None:
    """Leaves orders out of the newest whole log that nobody asks for; between batches only.

    spark: Spark's part of the checkpoint. control: where the orders are. bytes_limit: a log that is
    not larger stays as it is.
    """
    sources = spark.under("sources")
    logs = sources.under(max(sources.folders(), key=int, default="0"))  # it is the last source
    sizes = logs.sizes()
    whole = [name for name in sizes if name.endswith(_COMPACT)]
    name = max(whole, key=_number, default=None)
    if name is None or sizes[name] <= bytes_limit:
        return
    lines = (logs.read(name) or b"").splitlines(keepends=True)
    version, entries = lines[:1], lines[1:]
    oldest = max(map(_number, sizes)) - LOGS_KEPT
    try:
        kept = [*_needed(entries, oldest, set(control.names()))]
    except (KeyError, TypeError, ValueError):
        return  # It is damaged: Spark refuses it when it reads it again.
    if len(kept) < len(entries):
        replace_log(logs, name, b"".join([*version, *kept]).rstrip(b"\n"))


def _needed(entries: Iterable[bytes], oldest: int, present: set[str]) -> Iterator[bytes]:
    """Files of the last logs, and those that are still there."""
    for entry in entries:
        told = json.loads(entry)
        if told["batchId"] >= oldest or os.path.basename(told["path"]) in present:
            yield entry


def replace_log(logs: Storage, name: str, data: bytes) -> None:
    """Puts other bytes in the place of a log, with checksums where it had some.

    Without checksums Hadoop believes what it reads: whatever breaks off here leaves a whole log.
    """
    checksums = f".{name}.crc"
    has_checksums = logs.has(checksums)
    logs.remove(checksums)
    logs.write(name, data)
    if has_checksums:
        parts = [data[at : at + _CHECKED_BYTES] for at in range(0, len(data), _CHECKED_BYTES)]
        sums = [zlib.crc32(part).to_bytes(4, "big") for part in parts]
        logs.write(checksums, b"".join([_CHECKED, *sums]))


def _number(name: str) -> int:
    return int(name.removesuffix(_COMPACT))
