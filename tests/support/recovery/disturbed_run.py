"""One run of a job that is killed again and again while its input grows, and what it must give."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

import windrow
from support.recovery import processes, recovered_job
from support.recovery.asked import (
    ASKED,
    BUCKETS,
    TABLE,
    file_rows,
    plan_of_asked,
    table_rows,
    tables_of_asked,
)
from support.recovery.placed_death import CLAIM, ORDER, PLACES
from support.recovery.places import Folders, Place, plain
from support.recovery.recorded_batches import committed_batches, recorded_batches
from support.spark.driven_job import DrivenJob
from support.spark.stream_files import COLUMNS, Files, read_sink
from windrow.spark.shuffle.table_packer import RecordForm

__all__ = ["DisturbedRun"]

PATIENCE_S = 900
# Which part of the kills at any moment comes before the first batch, and within how many seconds.
STARTING, START_S = 0.25, 15.0
# A kill comes so much later than the batch that was waited for, at most.
MORE_S = 1.5
MOST_WAITING = 6
LONG_LIFE = 15  # batches
# Lives are short: what the compiler would make of the code does not pay.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1"


@dataclass
class DisturbedRun:
    """A job in a folder of its own; every random choice follows from the seed."""

    root: Path
    queries: tuple[str, ...]
    seed: int
    has_executors: bool = False
    place: Place = field(default_factory=Folders)
    is_shared: bool = False  # all queries run in one operator
    kills: Counter[str] = field(default_factory=Counter)
    replayed: int = 0  # batches that were at work when the driver was killed
    starts: int = 0
    rows_put: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._files = Files(None, self.root / "in")
        self._seen: dict[str, dict[str, bytes]] = {}
        self._number = 0
        self._job: subprocess.Popen[bytes] | None = None
        streams = {stream for name in self.queries for stream in plan_of_asked(name).streams}
        self._streams = sorted(streams)
        self._has_table = any(tables_of_asked(name) for name in self.queries)
        self.feed(2)

    def feed(self, count: int) -> None:
        """Adds files to each stream."""
        for _ in range(count):
            for stream in self._streams:
                table = file_rows(stream, self._number, self.seed)
                self.rows_put[stream] += table.num_rows
                self._files.put(stream, table)
            if self._has_table:
                table = table_rows(self._number, self.seed)
                self.rows_put[TABLE.name] += table.num_rows
                self._files.put(TABLE.name, table)
            self._number += 1

    # ---- kills

    def kill_drivers(self, count: int) -> None:
        """Lives of the driver that end by kill -9: at any moment, or at a place in the code."""
        for _ in range(count):
            places = [place for place in PLACES if place != ORDER or "governed" in self.queries]
            place = self._random.choice([None, *places, *[None] * len(places)])
            life = self._start(place)
            if place is not None:
                # A place that is not met, such as an order that nobody gives, ends some time too.
                wanted = self._committed() + LONG_LIFE
                self._feed_until(life, lambda wanted=wanted: self._committed() >= wanted)
                kind = "driver at any moment" if life.poll() is None else f"driver {place}"
            elif self._random.random() < STARTING:
                self._feed_until(life, _passed(self._random.uniform(0, START_S)))
                kind = "driver while it starts"
            else:
                wanted = self._committed() + self._random.randrange(1, 2 + 2 * len(self.queries))
                self._feed_until(life, lambda wanted=wanted: self._committed() >= wanted)
                self._feed_until(life, _passed(self._random.uniform(0, MORE_S)))
                kind = "driver at any moment"
            self._kill(life)
            self._count(kind)

    def kill_below(self, job: subprocess.Popen[bytes], kind: str, count: int) -> None:
        """kill -9 of processes below a driver that goes on: Spark tries again what they did."""
        found = {
            "worker": processes.workers,
            "daemon": processes.daemons,
            "executor": processes.executors,
        }[kind]
        for _ in range(count):
            # Spark gives up a task that fails four times: some batch must get through in between.
            self.feed(1)
            wanted = self._committed() + 1
            self._feed_until(job, lambda wanted=wanted: self._committed() >= wanted)
            self.feed(self._random.randrange(2))
            self._feed_until(job, _passed(self._random.uniform(0, MORE_S)))
            self._feed_until(job, lambda: bool(found(job.pid)))
            assert job.poll() is None, self._end_of_log()
            victim = self._random.choice(found(job.pid))
            processes.end(processes.with_forked(victim) if kind == "daemon" else [victim])
            self._count(kind)

    def _count(self, kind: str) -> None:
        self.kills[kind] += 1
        sys.stdout.write(f"  killed: {kind}, after {self._committed()} batches\n")
        sys.stdout.flush()

    def begin(self) -> subprocess.Popen[bytes]:
        """A life of the driver in which the first batches are done."""
        before, job = self.batches(), self._start(None)
        until = time.monotonic() + PATIENCE_S
        self.feed(1)
        while not self.batches() or any(
            count <= before.get(name, 0) for name, count in self.batches().items()
        ):
            assert time.monotonic() < until, self._end_of_log()
            assert job.poll() is None, self._end_of_log()
            time.sleep(0.1)
        return job

    def finish(self, job: subprocess.Popen[bytes] | None = None) -> None:
        """Lets the job go through to the end."""
        self.feed(1)
        (self.root / "last").touch()
        job = job or self._start(None)
        assert job.wait(PATIENCE_S) == 0, self._end_of_log()

    def _start(self, place: str | None) -> subprocess.Popen[bytes]:
        cores = self._random.choice([1, 2, 2])
        command = [sys.executable, recovered_job.__file__, str(self.root)]
        command += ["--queries", *self.queries, "--cores", str(cores)]
        command += ["--sink", json.dumps(self.place.described())]
        if self.is_shared:
            command.append("--shared")
        if self.has_executors:
            command.append("--executors")
        if place is not None:
            most = {CLAIM: len(self.queries), ORDER: 1}.get(place, 6)
            command += ["--die-at", place, str(self._random.randint(1, most))]
        self.starts += 1
        source = str(Path(__file__).parents[3] / "src")
        tests = str(Path(__file__).parents[2])
        paths = {"PYTHONPATH": os.pathsep.join([source, tests]), "SPARK_LOCAL_IP": "127.0.0.1"}
        paths["JAVA_TOOL_OPTIONS"] = JAVA_OPTIONS
        with self._log().open("ab") as log:
            self._job = subprocess.Popen(
                command,
                start_new_session=True,
                env={**os.environ, **paths},
                stdout=log,
                stderr=log,
            )
        return self._job

    def end(self) -> None:
        """Leaves no process behind."""
        if self._job is not None and self._job.poll() is None:
            processes.end([*processes.below(self._job.pid), self._job.pid])
            self._job.wait()

    def _feed_until(self, job: subprocess.Popen[bytes], is_over: Callable[[], bool]) -> None:
        """Adds a file now and then until it is over or the job has died."""
        until = time.monotonic() + PATIENCE_S
        next_file = time.monotonic()
        while not is_over() and job.poll() is None:
            assert time.monotonic() < until, self._end_of_log()
            if time.monotonic() >= next_file and self._waiting() < MOST_WAITING:
                self.feed(1)
                next_file = time.monotonic() + self._random.uniform(0.2, 3.0)
            time.sleep(0.02)

    def _committed(self) -> int:
        return sum(self.batches().values())

    def _waiting(self) -> int:
        """Files that the slowest query has not gone through."""
        return self._number - min(self.batches().values(), default=0)

    def _kill(self, job: subprocess.Popen[bytes]) -> None:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
        else:
            # The driver is dead; its JVM may be at work for a moment more, as in life.
            time.sleep(self._random.uniform(0, 0.5))
            with_group = [pid for pid in _group(job.pid) if pid != job.pid]
            processes.end(with_group)
        code = job.wait(PATIENCE_S)
        assert code == -signal.SIGKILL, self._end_of_log()
        for folder in self._operators():
            self.replayed += len(recorded_batches(folder)) - committed_batches(folder)
        for name in self.queries:
            self._look(name)

    def _log(self) -> Path:
        return self.root / "log.txt"

    def _end_of_log(self) -> str:
        return self._log().read_text(errors="replace")[-5000:]

    def _operators(self) -> list[Path]:
        """The checkpoints of Spark's queries, as far as they have begun."""
        return [path.parent.parent for path in self.root.glob("checkpoint/*/spark/offsets")]

    # ---- what must be so

    def batches(self) -> dict[str, int]:
        """How many batches each query took."""
        return {path.name: committed_batches(path) for path in self._operators()}

    def check(self) -> None:
        """All rows are through, once, and every batch gave what it gives undisturbed."""
        ledger = json.loads((self.root / "done").read_text())
        for row in ledger:
            parts = [row[name] for name in ("applied", "late", "bad_time", "rejected", "waiting")]
            assert row["rows_in"] == sum(parts) == self.rows_put[row["stream"]], row
        for name in self.queries:
            self._look(name)
            if self.is_shared:
                self._check_all(name)
            else:
                self.place.check(self.root, name, self._expected(name))

    def _look(self, name: str) -> None:
        """What a batch has told must be there as it was, whenever it is looked at again."""
        found, before = self.place.seen(self.root, name), self._seen.get(name, {})
        for batch, data in before.items():
            assert found.get(batch) == data, f"{name}: {batch} was changed by a replay"
        self._seen[name] = found

    def _expected(self, name: str) -> dict[int, pa.Table]:
        """What each batch gives, worked out anew from the rows and orders that Spark gave it."""
        tables = tables_of_asked(name)
        job = DrivenJob(plan_of_asked(name), self.root / "driven" / name, BUCKETS, tables)
        given = []
        for batch in recorded_batches(self.root / "checkpoint" / name):
            rows = batch.tables()
            read = {each.name: rows.pop(each.name) for each in tables if each.name in rows}
            changes = {name: (RecordForm(), own.to_batches()) for name, own in read.items()}
            given.append(job.batch(rows, batch.orders, changes)[ASKED[name].feed])
        return {number: table for number, table in enumerate(given) if table.num_rows}

    def _check_all(self, name: str) -> None:
        """What was told in all is what a session in one process tells, which knows no batches."""
        session = windrow.connect()
        for stream in self._streams:
            session.stream(stream, COLUMNS, time="ts")
        query = session.query(ASKED[name].text)
        for number in range(self._number):
            for stream in self._streams:
                session.push(stream, file_rows(stream, number, self.seed))
        session.finish()
        expected = query.changes() if ASKED[name].feed == "changes" else query.answers()
        told = read_sink(self.root / "out" / name)
        assert plain(told.to_pylist()) == plain(expected.to_pylist()), name


def _passed(seconds: float) -> Callable[[], bool]:
    """Whether so much time has passed."""
    until = time.monotonic() + seconds
    return lambda: time.monotonic() >= until


def _group(leader: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == leader:
                found.append(int(entry.name))
    return found
