"""What waits in the sources of a run: offsets of Kafka, files of folders on this machine.

Kafka's ends are those that Spark saw with the last batch. Files are counted now: those that are
newer than the newest that was read, as Spark reads them in the order of their times.
"""

from __future__ import annotations

import fnmatch
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame

from windrow.connectors.files.spark_files_read import PlannedFile

__all__ = [
    "FILES_COUNTED",
    "FilesRead",
    "ReadSource",
    "SourceBacklog",
    "backlogs_of",
    "sources_read",
]

# Of a larger backlog it is only said that there are so many.
FILES_COUNTED = 100_000

_LOCAL = "file:"
_GLOB_SIGNS = set("[]{}*?\\")


@dataclass(frozen=True)
class SourceBacklog:
    """What waits in one source; behind: how many of the unit, None where nobody knows."""

    stream: str
    kind: str
    unit: str = ""
    behind: int | None = None
    bytes: int | None = None


@dataclass(frozen=True)
class ReadSource:
    """A source of a stream; folder: where its files are, if they can be counted here."""

    stream: str
    kind: str
    folder: str | None = None
    pattern: str | None = None


@dataclass(frozen=True)
class FilesRead:
    """The newest time of the files of a folder that were read, and their names at that time."""

    newest_ms: int
    names: frozenset[str]

    def with_files(self, files: Iterable[PlannedFile]) -> FilesRead:
        """The same after others were read."""
        found = self
        for file in files:
            name = file.path.removeprefix(_LOCAL)
            if file.changed_ms > found.newest_ms:
                found = FilesRead(file.changed_ms, frozenset([name]))
            elif file.changed_ms == found.newest_ms:
                found = replace(found, names=found.names | {name})
        return found


NOTHING_READ = FilesRead(-1, frozenset())


def sources_read(frames: Mapping[str, DataFrame]) -> list[ReadSource]:
    """The sources of streaming DataFrames, in the order in which Spark reports them."""
    return [source for stream, frame in frames.items() for source in _leaves(stream, frame)]


def _leaves(stream: str, frame: DataFrame) -> Iterator[ReadSource]:
    leaves: Any = frame._jdf.queryExecution().analyzed().collectLeaves()
    for number in range(leaves.size()):
        leaf = leaves.apply(number)
        name = leaf.getClass().getSimpleName()
        if name == "StreamingRelation":
            scan = leaf.dataSource()
            options = {str(key).lower(): value for key, value in _pairs(scan.options())}
            yield ReadSource(stream, str(scan.className()), *_folder_of(options))
        elif name == "StreamingRelationV2":
            yield ReadSource(stream, str(leaf.sourceName()))


def _pairs(options: Any) -> Iterator[tuple[str, str]]:
    pairs = options.iterator()
    while pairs.hasNext():
        pair = pairs.next()
        yield str(pair._1()), str(pair._2())


def _folder_of(options: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The folder of this machine that Spark reads from the oldest file on, and which files."""
    path = options.get("path", "")
    is_plain = path.startswith(("/", f"{_LOCAL}/")) and not _GLOB_SIGNS & set(path)
    if not is_plain or options.get("latestfirst", "false").lower() == "true":
        return None, None
    folder = os.path.normpath("/" + path.removeprefix(_LOCAL).lstrip("/"))
    return folder, options.get("pathglobfilter")


def files_by_folder(
    known: Mapping[str, FilesRead], sources: Sequence[ReadSource], files: Sequence[PlannedFile]
) -> dict[str, FilesRead]:
    """What was read of each folder, after a batch has read these files."""
    found = dict(known)
    for folder in {source.folder for source in sources if source.folder is not None}:
        inside = [each for each in files if each.path.startswith(f"{_LOCAL}{folder}/")]
        if inside:
            found[folder] = found.get(folder, NOTHING_READ).with_files(inside)
    return found


def backlogs_of(
    sources: Sequence[ReadSource],
    files: Mapping[str, FilesRead],
    reported: Sequence[Mapping[str, Any]],
) -> list[SourceBacklog]:
    """What waits in each source; reported: what Spark said of its sources with the last batch."""
    found = []
    for number, source in enumerate(sources):
        if source.folder is not None and source.folder in files:
            count, size = _waiting(source.folder, source.pattern, files[source.folder])
            found.append(SourceBacklog(source.stream, source.kind, "files", count, size))
        else:
            said = reported[number] if number < len(reported) else {}
            found.append(_by_offsets(source, said))
    return found


def _waiting(folder: str, pattern: str | None, read: FilesRead) -> tuple[int, int]:
    count = size = 0
    for name, status in _files_in(folder):
        if pattern is not None and not fnmatch.fnmatch(os.path.basename(name), pattern):
            continue
        changed_ms = status.st_mtime_ns // 1_000_000
        is_new = changed_ms == read.newest_ms and name not in read.names
        if changed_ms > read.newest_ms or is_new:
            count, size = count + 1, size + status.st_size
            if count >= FILES_COUNTED:
                break
    return count, size


def _files_in(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    for place, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if each[0] not in "._"]
        for name in names:
            if name[0] not in "._":
                try:
                    yield os.path.join(place, name), os.stat(os.path.join(place, name))
                except OSError:
                    continue  # it has gone meanwhile


def _by_offsets(source: ReadSource, said: Mapping[str, Any]) -> SourceBacklog:
    """Kafka's offsets: by topic and partition, how far the end is beyond what was read."""
    last, read = _offsets(said.get("latestOffset")), _offsets(said.get("endOffset"))
    if last is None or read is None:
        return SourceBacklog(source.stream, source.kind)
    behind = sum(max(0, end - read.get(each, end)) for each, end in last.items())
    return SourceBacklog(source.stream, source.kind, "offsets", behind)


def _offsets(given: Any) -> dict[tuple[str, str], int] | None:
    try:
        topics = json.loads(given) if isinstance(given, str) else given
        return {
            (topic, partition): int(offset)
            for topic, partitions in topics.items()
            for partition, offset in partitions.items()
        }
    except (AttributeError, TypeError, ValueError):
        return None
