"""A standalone cluster on the loopback address: a master and its workers, each a process.

Every worker has a temporary directory of its own, as a host has: Python workers of one executor
find the sockets of their neighbours there, and those of other executors do not.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pyspark

from windrow.spark.processes.java import ensure_java

HOST = "127.0.0.1"
PATIENCE_S = 300
SOURCES = Path(__file__).parents[3] / "src"

_MASTER = re.compile(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
_REGISTERED = re.compile(r"(Successfully registered) with master")
_EXECUTOR = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"


@dataclass(frozen=True)
class Worker:
    """One worker of the cluster: the process that starts executors, of one core in all."""

    process: subprocess.Popen[bytes]

    def executors(self) -> list[int]:
        """The process ids of its executors."""
        return [pid for pid in descendants(self.process.pid) if _EXECUTOR in _words(pid)]

    def kill_executors(self) -> None:
        """kill -9 of its executors; it starts others in their place."""
        executors = self.executors()
        assert executors
        for pid in executors:
            os.kill(pid, signal.SIGKILL)

    def kill(self) -> None:
        """kill -9 of the worker, its executors and their Python processes, as when a host dies."""
        for pid in (self.process.pid, *descendants(self.process.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


class StandaloneCluster:
    """A master and its workers."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self._folder = folder
        self.workers: list[Worker] = []
        self._master = self._start("master", "master.Master", "--host", HOST, "--port", "0")
        try:
            self.url = self._awaited("master", _MASTER)
            for number in range(workers):
                self._add_worker(f"worker-{number}")
        except BaseException:
            self.stop()
            raise

    def _add_worker(self, name: str) -> None:
        place = ("--work-dir", str(self._folder / f"{name}-work"))
        size = ("--host", HOST, "--cores", "1", "--memory", "1g")
        self.workers.append(Worker(self._start(name, "worker.Worker", *size, *place, self.url)))
        self._awaited(name, _REGISTERED)

    def stop(self) -> None:
        """Ends all processes."""
        for worker in (*self.workers, Worker(self._master)):
            if worker.process.poll() is None:
                worker.kill()

    def _start(self, name: str, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        temporary = self._folder / f"{name}-tmp"
        temporary.mkdir(parents=True)
        places = {"TMPDIR": str(temporary), "SPARK_LOCAL_DIRS": str(temporary)}
        # Executors inherit what their worker has.
        home = str(Path(pyspark.__file__).parent)
        spark = {"SPARK_HOME": home, "SPARK_SCALA_VERSION": "2.13", "SPARK_LOCAL_IP": HOST}
        own = {**spark, **places, "PYTHONPATH": str(SOURCES)}
        environment = {**os.environ, **ensure_java(), **own}
        java_home = environment.get("JAVA_HOME")
        java = f"{java_home}/bin/java" if java_home else "java"
        options = ["-Xmx512m", "-Dspark.master.rest.enabled=false"]
        main = f"org.apache.spark.deploy.{kind}"
        with (self._folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [java, *options, "-cp", f"{home}/jars/*", main, "--webui-port", "0", *arguments],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _awaited(self, name: str, sign: re.Pattern[str]) -> str:
        """What the sign matches in the log of a process, as soon as it is there."""
        log = self._folder / f"{name}.log"
        until = time.monotonic() + PATIENCE_S
        while (found := sign.search(log.read_text(errors="replace"))) is None:
            assert time.monotonic() < until, log.read_text(errors="replace")
            time.sleep(0.05)
        return found[1]


def descendants(root: int) -> list[int]:
    """The process ids of all that a process has started, and these in turn."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                # The name in parentheses may hold anything; the parent is the second word after.
                stat = (entry / "stat").read_text(errors="replace")
                parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found = [root]
    for parent in found:
        found += [pid for pid, its_parent in parents.items() if its_parent == parent]
    return found[1:]


def _words(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
