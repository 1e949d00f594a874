"""A script on Spark in this machine, watched: it reads its sources, and stays up for looking."""

from __future__ import annotations

import shutil
import tempfile
import threading
from pathlib import Path

import pyarrow as pa

from windrow.apps.console.paced_files import pieces_by_time
from windrow.apps.console.registry import Registry
from windrow.apps.console.spark_runner import SparkRunner
from windrow.connectors.files.connector import FileSource
from windrow.connectors.parquet.whole_files import write_whole
from windrow.errors import DataError, WindrowError
from windrow.jobs.job import Job
from windrow.jobs.player import Player
from windrow.rows.file_rows import FileRows
from windrow.spark.driver.job import DEFAULT_MEMORY_BYTES
from windrow.spark.driver.session import SparkWindrowSession
from windrow.spark.settings import local_session

__all__ = ["SparkJob"]

TRIGGER = "1 second"


class SparkJob:
    """A registry with the job's session in it.

    Neither the checkpoint nor the sinks of the script are touched: the console shows, and another
    run of the script resumes where it was. At a pace, rows come as small files in a folder of the
    console's own.
    """

    def __init__(
        self,
        job: Job,
        title: str,
        *,
        pace: float | None = None,
        memory: str | None = None,
        read_only: bool = False,
        ui: bool = False,
        jars: tuple[str, ...] = (),
        packages: tuple[str, ...] = (),
    ) -> None:
        sources = job.sources()
        for schema, source in sources.values():
            source.check_on_spark(schema)
        pieces = pieces_by_time(sources, max(1, round(pace * 1e6))) if pace else None
        self._folder = Path(tempfile.mkdtemp(prefix="windrow-console-"))
        self._files = 0
        self._player: Player | None = None
        self._ending: threading.Thread | None = None
        try:
            self._spark = local_session(ui=ui, jars=jars, packages=packages)
            budget = memory or job.settings.memory or DEFAULT_MEMORY_BYTES
            self._session = SparkWindrowSession(
                self._spark,
                budget,
                self._folder / "checkpoint",
                time_zone=job.settings.time_zone,
            )
            for function in job.functions.values():
                self._session.add_function(function)
            for name, (schema, source) in sources.items():
                if pace:
                    (self._folder / name).mkdir()
                    source = FileSource("parquet", str(self._folder / name))
                self._session.stream(name, schema.types, source=source, **schema.declared())
            trigger = job.settings.trigger or TRIGGER
            for name, history in job.histories.items():
                if name in sources:
                    self._session.history(name, **history.schema.declared(), trigger=trigger)
            self.registry = Registry(
                SparkRunner(self._session, trigger), title, is_read_only=read_only
            )
            self.registry.follow_all({query.name: query.text for query in job.queries.values()})
            if pieces is not None:
                self._player = Player(
                    pieces, self._write, self._finish, self.registry.note_problem, pace
                )
            elif not any(source.is_endless for _, source in sources.values()):
                self._ending = threading.Thread(target=self._finish, daemon=True)
        except BaseException:  # Ctrl-C while Spark starts, too
            shutil.rmtree(self._folder, ignore_errors=True)
            raise

    def start(self) -> None:
        """Rows come, and streams that have an end are ended there."""
        for thread in (self._player, self._ending):
            if thread is not None:
                thread.start()

    def close(self) -> None:
        """Stops the queries and Spark, and removes the files."""
        if self._player is not None:
            self._player.stop()
        self._session.stop()
        self._spark.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _write(self, stream: str, rows: FileRows) -> None:
        """Puts a file where Spark looks; it appears whole or not at all.

        What was set aside while rows were read never reaches Spark: it is reported as a problem.
        """
        for bad in rows.bad:
            message = f"{bad.file}, line {bad.line}: a row of stream {stream!r} was set aside"
            self.registry.note_problem(DataError("WD506", f"{message}: {bad.why}", hint="fix it"))
        self._files += 1
        target = self._folder / stream / f"{self._files:09d}.parquet"
        write_whole(pa.Table.from_batches([rows.batch]), target)

    def _finish(self) -> None:
        try:
            self._session.finish()
            self.registry.note_end()
        except WindrowError as error:
            self.registry.note_problem(error)
