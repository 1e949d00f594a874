"""The sink that CONTRIBUTING.md shows how to add: its code and its script, run."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from support.doc_pages import blocks_of
from windrow.connectors import registry
from windrow.embedded.job import run_embedded
from windrow.errors import BindingError
from windrow.jobs.job import Job, job_of
from windrow.jobs.watcher import Standing

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"
ROWS = """location,ts,celsius
hall,2026-01-01T00:00:00Z,41.5
hall,2026-01-01T00:05:00Z,20.0
roof,2026-01-01T00:06:00Z,44.0
hall,2026-01-01T00:07:00Z,40.0
roof,2026-01-01T01:00:00Z,20.0
"""


class Silent:
    """Watches a job, and says nothing."""

    def answered(self, query: str, answers: pa.Table) -> None: ...
    def ended(self, query: str, result: pa.Table) -> None: ...
    def advanced(self, rows: int, fraction: float | None) -> None: ...
    def stood(self, look: Callable[[], list[Standing]]) -> None: ...
    def operated(self, rows: Sequence[Mapping[str, Any]]) -> None: ...
    def counted(self, ledger: pa.Table, bad_rows: Mapping[str, pa.Table]) -> None: ...


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The script of the page, in a folder with its rows, where its sink is known."""
    blocks = blocks_of(PAGE)
    (code,) = [block.text for block in blocks if block.language == "py"]
    (text,) = [block.text for block in blocks if block.language == "sql" and "lines(" in block.text]
    (tmp_path / "json_lines.py").write_text(code, encoding="utf-8")
    (tmp_path / "temp.csv").write_text(ROWS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(registry.SINKS, "lines", "json_lines")
    importlib.invalidate_caches()
    return text


def read(folder: Path) -> list[dict[str, Any]]:
    files = sorted(folder.glob("batch-*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def result_of(changes: list[dict[str, Any]]) -> dict[str, int]:
    """The rows that changes leave."""
    left: dict[tuple[str, int], int] = {}
    for row in changes:
        key = (row["location"], row["n"])
        left[key] = left.get(key, 0) + row["change"]
    return {location: n for (location, n), count in left.items() if count}


def run(job: Job) -> None:
    run_embedded(job, Silent())


def test_it_is_written_in_this_process(script: str, tmp_path: Path) -> None:
    run(job_of(script))
    changes = read(tmp_path / "hot")
    assert {"location": "hall", "n": 1, "change": 1}.items() <= changes[0].items()
    until = [row for row in changes if row["at"] < "2026-01-01 00:08"]
    assert result_of(until) == {"hall": 2, "roof": 1}
    assert result_of(changes) == {}


def test_a_batch_that_comes_again_replaces_its_own(script: str, tmp_path: Path) -> None:
    sink = job_of(script).queries["hot"].sink
    table = pa.table({"location": ["hall"], "n": [1]})
    checkpoint: Any = None
    for _ in range(2):
        sink.open_on_spark(job_of(script).queries["hot"].plan, checkpoint).write(
            {"changes": table}, 7
        )
    assert sink.replay == "replaced"
    assert read(tmp_path / "hot") == table.to_pylist()


def test_its_options_are_checked_as_those_of_all_others(script: str) -> None:
    with pytest.raises(BindingError, match=r"WB507.*'fed'"):
        job_of(script.replace("feed", "fed"))
    with pytest.raises(BindingError, match=r"WB505.*'rows'"):
        job_of(script.replace("'changes'", "'rows'"))
