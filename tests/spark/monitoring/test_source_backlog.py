"""What waits in sources: files that are newer than those read, and offsets of Kafka."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from windrow.connectors.files.spark_files_read import PlannedFile
from windrow.spark.monitoring import source_backlog
from windrow.spark.monitoring.source_backlog import ReadSource, backlogs_of, files_by_folder


def put(folder: Path, name: str, at_s: int) -> PlannedFile:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"four")
    os.utime(path, (at_s, at_s))
    return PlannedFile(f"file:{path}", 4, at_s * 1_000)


def test_newer_files_wait(tmp_path: Path, monkeypatch: Any) -> None:
    sources = [ReadSource("s", "csv", str(tmp_path), "*.csv")]
    read = [put(tmp_path, "a.csv", 1), put(tmp_path, "b.csv", 2)]
    assert backlogs_of(sources, {}, [])[0].behind is None  # not known before a batch
    files = files_by_folder({}, sources, read)
    put(tmp_path, "c.csv", 2)  # at the same moment, and not read
    put(tmp_path / "part=1", "d.csv", 3)
    for other in ("e.txt", ".f.csv", "_temporary/g.csv"):
        put(tmp_path, other, 9)
    (found,) = backlogs_of(sources, files, [])
    assert (found.unit, found.behind, found.bytes) == ("files", 2, 8)
    files = files_by_folder(files, sources, [put(tmp_path, "c.csv", 2)])
    assert backlogs_of(sources, files, [])[0].behind == 1
    files = files_by_folder(files, sources, [put(tmp_path / "part=1", "d.csv", 3)])
    assert backlogs_of(sources, files, [])[0].behind == 0
    for number in range(5):
        put(tmp_path, f"{number}.csv", 4)
    monkeypatch.setattr(source_backlog, "FILES_COUNTED", 3)
    assert backlogs_of(sources, files, [])[0].behind == 3


def test_offsets_behind_the_end() -> None:
    sources = [ReadSource("s", "kafka"), ReadSource("t", "kafka"), ReadSource("r", "rate")]
    reported: list[dict[str, Any]] = [
        {
            "endOffset": {"a": {"0": 5, "1": 7}, "b": {"0": 1}},
            "latestOffset": {"a": {"0": 9, "1": 7}, "b": {"0": 3}},
        },
        {"endOffset": '{"a": {"0": 5}}', "latestOffset": '{"a": {"0": 5}}'},
        {"endOffset": 12, "latestOffset": None},
    ]
    found = backlogs_of(sources, {}, reported)
    assert [(each.stream, each.unit, each.behind) for each in found] == [
        ("s", "offsets", 6),
        ("t", "offsets", 0),
        ("r", "", None),
    ]
