"""Whether a batch has read the files that Spark has listed for it.

Spark notes which files a batch is to read, and asks for them again when it runs the batch. A file
that has gone in between it leaves out without a word, and of one that grew or was written over in
the meantime it reads what it expected: rows would be missing, and the file is never read again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from windrow.errors import DataError

__all__ = ["PlannedFile", "changed_file", "check_files_read"]

_QUERY_ID = "sql.streaming.queryId"  # set by Spark in the thread of a streaming query
_LOCAL = "file:"
_IGNORES = "ignoreMissingFiles"
# A FileStatus of Hadoop as it shows itself: one text for all files, as each call of Java costs.
_STATUS = re.compile(
    r"\{path=(.*?); isDirectory=\w+; length=(\d+);.*?; modification_time=(-?\d+);", re.DOTALL
)


class PlannedFile(NamedTuple):
    """A file as it was when the batch was planned."""

    path: str  # an address, as Hadoop writes them: file:/data/a b.csv
    size: int
    changed_ms: int


def check_files_read(spark: SparkSession) -> list[PlannedFile]:
    """Refuses the current batch if files that it was to read are missing or have changed.

    It is called in the thread of the batch, after all its rows have been read; gives the files.
    """
    read = []
    for relation in _file_relations(spark):
        index = relation.location()
        wanted, found = index.rootPaths(), index.allFiles()
        planned = _statuses(found)
        if wanted.size() != found.size() and not _ignores_missing(spark, relation):
            there = {file.path for file in planned}
            raise _vanished(
                [path for path in wanted.mkString("\n").split("\n") if path not in there]
            )
        changed = changed_file(planned)
        if changed is not None:
            raise _changed(changed)
        read += planned
    return read


def _file_relations(spark: SparkSession) -> Iterator[Any]:
    """What the running batch reads files with: one relation for each source that has new ones."""
    query_id = spark.sparkContext.getLocalProperty(_QUERY_ID)
    running = spark._jsparkSession.streams().get(query_id)
    leaves = running.streamingQuery().lastExecution().analyzed().collectLeaves()
    for number in range(leaves.size()):
        leaf = leaves.apply(number)
        if leaf.getClass().getSimpleName() == "LogicalRelation":
            relation = leaf.relation()
            if relation.getClass().getSimpleName() == "HadoopFsRelation":
                yield relation


def _statuses(found: Any) -> list[PlannedFile]:
    shown = found.mkString("\n")
    return [PlannedFile(path, int(size), int(ms)) for path, size, ms in _STATUS.findall(shown)]


def _ignores_missing(spark: SparkSession, relation: Any) -> bool:
    """Whether the author of the DataFrame has declared that files may disappear."""
    given = relation.options().get(_IGNORES)
    if given.isDefined():
        return str(given.get()).lower() == "true"
    return spark.conf.get(f"spark.sql.files.{_IGNORES}", "false") == "true"


def changed_file(planned: list[PlannedFile]) -> str | None:
    """The first of these files that is another one now; of those on this host only.

    One that has gone meanwhile was read: Spark fails where it cannot open a file.

    >>> changed_file([PlannedFile("hdfs://host/a.csv", 3, 0), PlannedFile("file:/not/there", 3, 0)])
    """
    for file in planned:
        if not file.path.startswith(_LOCAL):
            continue
        path = file.path.removeprefix(_LOCAL)
        try:
            now = os.stat(path)
        except OSError:
            continue
        if (now.st_size, now.st_mtime_ns // 1_000_000) != (file.size, file.changed_ms):
            return path
    return None


def _vanished(gone: list[str]) -> DataError:
    more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
    return DataError(
        "WD430",
        f"{gone[0].removeprefix(_LOCAL)}{more} was found in the source's folder, but was gone "
        "before it was read",
        hint=(
            "put it back, or an empty file of that name, and start again: the batch is read "
            "again. Files may be removed once their batch is committed"
        ),
    )


def _changed(path: str) -> DataError:
    return DataError(
        "WD431",
        f"{path} has changed while it was read",
        hint=(
            "start again: the batch then reads the current file. Write a file elsewhere and "
            "move it into the source's folder when it is complete"
        ),
    )
