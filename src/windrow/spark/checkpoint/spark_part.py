"""Spark's part of a checkpoint: whether it goes with ours, and its errors in our words.

Spark checks the bytes of its files but not that they are there: without its last offsets it would
begin a batch again with other rows, and without the last log of a source it would lose files.
"""

from __future__ import annotations

import json
import re

from windrow.errors import CheckpointError
from windrow.storage import Storage

__all__ = [
    "batch_time_us",
    "check_spark_part",
    "checkpoint_trouble",
    "last_commit",
    "last_offsets",
    "source_offsets",
    "takes_frames",
]

_HINT = "restore the checkpoint directory from a copy, or start with a new one"
_COMPACT = ".compact"
_FRAMES = b'"transformWithStateInPandasExec"'  # what Spark calls such an operator
# What Spark says where files of its checkpoint are damaged, lost or of another query.
_TROUBLES = re.compile(
    r"\[[A-Z_.]*(?:CHECKPOINT|STATE_STORE|STATEFUL_OPERATOR|BATCH_METADATA|LOG_VERSION|LOG_FILE"
    r"|STREAM_LOG_UPDATE|STATE_SCHEMA)|ChecksumException|Checksum (?:error|file)|RocksDBException"
    r"|ZipException|Incomplete log file|[Mm]etadata log|batch \d+ doesn't exist|Failed to read log"
    r"|StreamMetadata|No usable value for|doesn't exist \(latestId"
)

# What a disk without room, and one that must not be written to, have Java and Python say.
_FULL = re.compile(r"[^\n]*(?:No space left on device|Disk quota exceeded)[^\n]*")
_REFUSED = re.compile(r"[^\n]*(?:Read-only file system|Permission denied)[^\n]*")


def last_offsets(spark: Storage) -> int:
    """The newest batch of which Spark has written what it reads; -1 before the first."""
    return max(_numbers(spark.under("offsets")), default=-1)


def last_commit(spark: Storage) -> int:
    """The newest batch that is over; -1 before the first."""
    return max(_numbers(spark.under("commits")), default=-1)


def source_offsets(spark: Storage, batch: int) -> list[str]:
    """How far the sources had come with a batch, in the order of the query, as Spark writes it."""
    data = spark.under("offsets").read(str(batch)) if batch >= 0 else None
    return (data or b"").decode(errors="replace").splitlines()[2:]


def takes_frames(spark: Storage) -> bool:
    """Whether the operators of a checkpoint were begun with frames of pandas instead of rows."""
    told = spark.under("state").under("0").under("_metadata").under("v2")
    return any(_FRAMES in (told.read(name) or b"") for name in told.names())


def batch_time_us(spark: Storage, batch: int) -> int | None:
    """When Spark began a batch, as it has recorded with the offsets; None where it has not."""
    data = spark.under("offsets").read(str(batch))
    lines = (data or b"").decode(errors="replace").splitlines()
    try:
        return int(json.loads(lines[1])["batchTimestampMs"]) * 1_000
    except (IndexError, KeyError, TypeError, ValueError):
        return None


def check_spark_part(spark: Storage, published: int) -> None:
    """Refuses a checkpoint in which files are missing that Spark would not miss.

    published: the newest batch that the driver has given to the sink; -1 before the first.
    """
    newest = last_offsets(spark)
    if newest < published:
        found = "none" if newest < 0 else f"those of batch {newest}"
        raise CheckpointError(
            "WC222",
            f"batch {published} was answered, but of Spark's offsets in {spark.location} the "
            f"newest are {found}",
            hint=_HINT,
        )
    for source, reached in _reached(spark, newest).items():
        logs = spark.under("sources").under(str(source))
        if max(_numbers(logs), default=-1) < reached:
            raise CheckpointError(
                "WC222",
                f"{logs.location} lacks log {reached}, which says what batch {newest} has read",
                hint=_HINT,
            )


def checkpoint_trouble(query: str, cause: str, detail: str) -> CheckpointError | None:
    """The error to give where Spark failed because of its checkpoint; None where it did not."""
    told = detail.partition("=== Streaming Query ===")[0]
    full = _FULL.search(told)
    if full is not None:
        return CheckpointError(
            "WC208",
            f"a disk is full, so Spark cannot continue {query}: {full.group()}",
            hint=(
                "free space where the checkpoint is, in the directories of spark.local.dir and "
                "for temporary files, and start again: it resumes where it stopped"
            ),
        )
    if not _TROUBLES.search(told):
        return None
    refused = _REFUSED.search(told)
    if refused is not None:
        return CheckpointError(
            "WC209",
            f"Spark cannot write to the checkpoint of {query}: {refused.group()}",
            hint=(
                "let the driver and the workers write there, and start again: it resumes where "
                "it stopped"
            ),
        )
    return CheckpointError(
        "WC223",
        f"Spark cannot resume from the checkpoint of {query}: {cause}",
        hint=f"{_HINT}; the cause of this exception is Spark's own error",
    )


def _reached(spark: Storage, batch: int) -> dict[int, int]:
    """By source of files, the number of its log that the batch has come to."""
    reached = {}
    for source, line in enumerate(source_offsets(spark, batch)):
        try:
            offset = json.loads(line)
        except ValueError:
            continue  # no offset yet, or damaged: Spark refuses that itself
        if isinstance(offset, dict) and isinstance(offset.get("logOffset"), int):
            reached[source] = offset["logOffset"]
    return reached


def _numbers(folder: Storage) -> list[int]:
    names = [name.removesuffix(_COMPACT) for name in folder.names()]
    return [int(name) for name in names if name.isdigit()]
