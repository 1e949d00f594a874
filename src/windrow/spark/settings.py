"""Spark's settings: those that a query runs with, and those of a local session of our own.

What each is worth was measured; docs say how much. A query's settings hold for that query only:
Spark copies the session when a stream starts, and the user's session gets its own values back.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from urllib.parse import urlsplit

from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from windrow.errors import UnsupportedError, WindrowError
from windrow.spark.processes.jar_files import jar_files, package_names
from windrow.spark.processes.java import ensure_java
from windrow.spark.processes.jvm_start import jvm_of_this_start
from windrow.spark.processes.lean_hadoop import make_lean
from windrow.spark.processes.leftovers import known_log, opened_log
from windrow.spark.processes.transient import started
from windrow.spark.processes.unzipped_pyspark import spare_archive

__all__ = [
    "WORKER_SOCKETS",
    "local_session",
    "query_settings",
    "settings_applied",
    "tuned_settings",
]

_STATE = "spark.sql.streaming.stateStore"
_MANAGER_SETTING = "spark.sql.streaming.checkpointFileManagerClass"
_FILE_MANAGER = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

_QUERY_SETTINGS = {
    # transformWithState runs on this state store only.
    f"{_STATE}.providerClass": _ROCKSDB,
    # A batch then writes what it changed, not the files of the whole store.
    f"{_STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    # Counting all keys of the store costs a look-up per write.
    f"{_STATE}.rocksdb.trackTotalNumberOfRows": "false",
    # Rows reach Python in few large batches.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4000000",
    # The clock comes from data and orders; a batch without either has nothing to do.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}

# A short collection of garbage matters less here than a cheap one. What the JVM does for a batch,
# planning it most of all, runs a few times in each: its second compiler took a third of all that it
# spent on fifty million rows, and code of the first one that is also profiled for the second runs
# slower. Rows of plain files do not pass through the JVM, where it would be of use.
_JAVA_OPTIONS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-XX:+UseParallelGC",
    "-XX:TieredStopAtLevel=1",
)

# How often Spark tries a task before it gives up; a cluster's own setting has the same default.
TASK_ATTEMPTS = 4

# Spark tells its workers what to do in several small messages. Over TCP one waits until the one
# before is acknowledged, which the receiver puts off by 40 milliseconds, several times in a batch.
WORKER_SOCKETS = {"spark.python.unix.domain.socket.enabled": "true"}

# Setting and restoring a session's values must not interleave between two starting queries.
_SESSION_LOCK = threading.Lock()


def query_settings(partitions: int, checkpoint: str) -> dict[str, str]:
    """The settings that a query starts with."""
    settings = {**_QUERY_SETTINGS, "spark.sql.shuffle.partitions": str(partitions)}
    if urlsplit(checkpoint).scheme in ("", "file"):
        # On a local disk the default one forks a process for each of some thirty files a batch.
        settings[_MANAGER_SETTING] = _FILE_MANAGER
    return settings


@contextmanager
def settings_applied(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Inside, the session has these settings; afterwards its own again."""
    with _SESSION_LOCK:
        before = {name: session.conf.get(name, None) for name in settings}
        explicit = {name: value for name, value in before.items() if value is not None}
        try:
            for name, value in settings.items():
                session.conf.set(name, value)
            yield
        finally:
            for name in settings:
                if name in explicit:
                    session.conf.set(name, explicit[name])
                else:
                    session.conf.unset(name)


def tuned_settings() -> dict[str, str]:
    """What a session on one machine should be built with, if it is not made by local_session().

    Spark reads these only when it starts; all else queries bring along.
    """
    return {
        "spark.driver.extraJavaOptions": " ".join(_JAVA_OPTIONS),
        # Packets are few and stay on this machine: to press them costs more than to write them.
        "spark.shuffle.compress": "false",
        "spark.python.worker.reuse": "true",
        **WORKER_SOCKETS,
        # Sources of files keep their logs by the session's manager, not by the query's.
        _MANAGER_SETTING: _FILE_MANAGER,
        # On a busy machine a worker may take longer than the 15 seconds it has to say that it runs.
        "spark.python.authenticate.socketTimeout": "120s",
    }


def local_session(
    cores: int = 2,
    ui: bool = False,
    memory: str = "2g",
    quiet: bool = True,
    jars: Sequence[str] = (),
    packages: Sequence[str] = (),
) -> SparkSession:
    """A Spark session in this machine alone, which listens on the loopback address only.

    jars: files for its class path, such as a connector's, or folders of them. packages: Maven
    coordinates of such, which Spark fetches with all that they need.

    quiet: what the JVM and the workers would write to the terminal goes to a file of the temporary
    directory instead; errors still reach the caller as exceptions.
    """
    if cores < 1:
        raise UnsupportedError("WU410", f"Spark cannot run on {cores} cores", hint="give 1 or more")
    _prepare_environment()
    # Without the second number a task whose Python worker dies would end the query.
    builder = SparkSession.builder.master(f"local[{cores},{TASK_ATTEMPTS}]").appName("windrow")
    for name, value in _local_settings(cores, ui, memory).items():
        builder = builder.config(name, value)
    if jars:
        builder = builder.config("spark.jars", ",".join(jar_files(jars)))
    if packages:
        builder = builder.config("spark.jars.packages", ",".join(package_names(packages)))
    is_new = SparkContext._active_spark_context is None
    try:
        with _stderr_into_log() if quiet else nullcontext(), jvm_of_this_start():
            session: SparkSession = started("Spark", builder.getOrCreate)
    except PySparkRuntimeError as problem:
        raise _not_started(problem, packages) from problem
    if is_new:  # another's session is left as it is
        make_lean(session)
        spare_archive(session)
    return session


def _not_started(problem: PySparkRuntimeError, packages: Sequence[str]) -> WindrowError:
    """The error of a JVM that ended before it could be reached."""
    log = known_log()
    said = "" if log is None else f"; what Java said is in {log}"
    fetched = f"; it was to fetch {', '.join(packages)}, which may be out of reach" * bool(packages)
    hint = "windrow doctor looks for Java and Spark"
    if packages:
        hint = "give jars of the connector instead: --jars, or jars= of local_session()"
    return WindrowError("WX402", f"Spark did not start: {problem}{fetched}{said}", hint=hint)


@contextmanager
def _stderr_into_log() -> Iterator[None]:
    """Inside, processes that are started write their errors into a file of their own.

    Spark's worker for state greets on the JVM's error stream, and no log level silences it.
    """
    sys.stderr.flush()
    kept, file = os.dup(2), opened_log()
    try:
        os.dup2(file, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(file)
        os.close(kept)


def _prepare_environment() -> None:
    """Sets what the JVM and the workers inherit; it must happen before the JVM starts."""
    os.environ.update(ensure_java())
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    # Workers must find this package also where it is not installed.
    source = str(Path(__file__).parents[2])
    known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if source not in known:
        os.environ["PYTHONPATH"] = os.pathsep.join([source, *filter(None, known)])


def _local_settings(cores: int, ui: bool, memory: str) -> dict[str, str]:
    return {
        **tuned_settings(),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": memory,
        # The page has no log-in. It keeps to the loopback address, but only who asks gets it.
        "spark.ui.enabled": "true" if ui else "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(cores),
    }
