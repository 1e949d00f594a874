"""`windrow run --embedded --state`: a job that ends at any moment writes what a whole one does."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import windrow as package
from support.building_files import expected_alarms, write_job
from support.command_line import events, windrow
from support.memory_folder import KilledError
from windrow.durable import job as durable_job
from windrow.durable.folder import GrowingFile
from windrow.jobs.job import job_of


class Watcher:
    """Takes what a run shows."""

    def __init__(self) -> None:
        self.alarms: list[pa.Table] = []
        self.results: dict[str, list[dict[str, object]]] = {}

    def answered(self, query: str, answers: pa.Table) -> None:
        self.alarms.append(answers)
        assert query == "alarms"

    def ended(self, name: str, result: pa.Table) -> None:
        self.results[name] = result.to_pylist()

    def advanced(self, *_: object) -> None:
        """Nothing is drawn."""

    stood = counted = advanced


def files_in(folder: Path) -> dict[str, pa.Table]:
    return {file.name: pq.read_table(file) for file in sorted(folder.iterdir())}


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, dies_at: int = 0) -> Watcher | None:
    """Run the job; None: it died at that write of its log."""
    calls = itertools.count(1)
    append = GrowingFile.append

    def counted(self: GrowingFile, pieces: list[bytes]) -> None:
        if next(calls) == dies_at:
            raise KilledError
        append(self, pieces)

    watcher = Watcher()
    with monkeypatch.context() as patched:
        patched.chdir(folder)
        patched.setattr(GrowingFile, "append", counted)
        patched.setattr("windrow.durable.session.SNAPSHOT_BYTES", 6_000)
        for module in ("reading", "parquet_files"):
            patched.setattr(f"windrow.connectors.files.{module}.BATCH_ROWS", 64)
        try:
            durable_job.run_durable(job_of((folder / "job.wql").read_text()), watcher, "state")  # type: ignore[arg-type]
        except KilledError:
            return None
    return watcher


def test_a_job_that_dies_at_any_write_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "whole").mkdir()
    write_job(tmp_path / "whole")
    whole = run(tmp_path / "whole", monkeypatch)
    assert whole is not None
    wanted = files_in(tmp_path / "whole" / "out")
    deaths = 0
    for dies_at in itertools.count(2, 3):
        folder = tmp_path / str(dies_at)
        folder.mkdir()
        write_job(folder)
        if run(folder, monkeypatch, dies_at) is not None:
            break
        deaths += 1
        again = run(folder, monkeypatch)
        assert again is not None
        assert again.results == whole.results
        assert files_in(folder / "out") == wanted
    assert deaths > 5


def test_a_finished_job_is_finished(tmp_path: Path) -> None:
    write_job(tmp_path)
    call = ("run", "job.wql", "--embedded", "--state", "state", "--json")
    first = windrow(*call, folder=tmp_path)
    assert first.returncode == 0, first.stderr
    answers = [each for each in events(first.stdout) if each["event"] == "answer"]
    assert len([each for each in answers if each["query"] == "alarms"]) == len(expected_alarms())
    written = files_in(tmp_path / "out")
    second = windrow(*call, folder=tmp_path)
    assert second.returncode == 0, second.stderr
    assert not [each for each in events(second.stdout) if each["event"] == "answer"]
    results = [
        [each for each in events(done.stdout) if each["event"] == "result"]
        for done in (first, second)
    ]
    assert results[0] == results[1] != []
    assert files_in(tmp_path / "out") == written


def test_files_that_have_shrunk_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_job(tmp_path)
    assert run(tmp_path, monkeypatch) is not None
    monkeypatch.setattr("windrow.embedded.side_by_side._Reader.next_batch", lambda _: None)
    with pytest.raises(package.CheckpointError) as problem:
        run(tmp_path, monkeypatch)
    assert problem.value.code == "WC413"


def test_state_goes_with_embedded(tmp_path: Path) -> None:
    write_job(tmp_path)
    done = windrow("run", "job.wql", "--state", "state", folder=tmp_path)
    assert done.returncode == 2
    assert "--embedded" in done.stderr


def test_a_killed_job_goes_on(tmp_path: Path) -> None:
    write_job(tmp_path)
    call = [sys.executable, "-m", "windrow", "run", "job.wql", "--embedded", "--state", "state"]
    with subprocess.Popen(call, cwd=tmp_path, stdout=subprocess.DEVNULL) as running:
        while not list(tmp_path.glob("state/log-*")):
            time.sleep(0.01)
        running.send_signal(signal.SIGKILL)
    done = windrow(*call[3:], "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (result,) = [each for each in events(done.stdout) if each["event"] == "result"]
    assert result["n"] == 31
