"""A standalone cluster: a master and its workers, each a process, on this machine or on hosts.

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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyspark

from windrow.spark.processes.java import ensure_java

HOST = "127.0.0.1"
PATIENCE_S = 300
SOURCES = Path(__file__).parents[3] / "src"

_MASTER = re.compile(r"Starting Spark master at (spark://[\d.]+:\d+)")
_REGISTERED = re.compile(r"(Successfully registered) with master")
_EXECUTOR = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"


@dataclass(frozen=True)
class Host:
    """Where a process runs; enter: what stands before its command."""

    address: str = HOST
    enter: tuple[str, ...] = ()


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

    def processes(self) -> list[int]:
        """The process ids of all that runs on its host."""
        return [self.process.pid, *descendants(self.process.pid)]

    def kill(self) -> None:
        """kill -9 of the worker, its executors and their Python processes, as when a host dies."""
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


class StandaloneCluster:
    """A master and its workers; hosts: of the master and of each worker; options: of their Java."""

    def __init__(
        self,
        folder: Path,
        hosts: Sequence[Host] = (Host(), Host(), Host()),
        options: tuple[str, ...] = (),
    ) -> None:
        self._folder, self._options = folder, options
        self.workers: list[Worker] = []
        master, *others = hosts
        given = ("--host", master.address, "--port", "0")
        self._master = self._start("master", master, "master.Master", *given)
        try:
            self.url = self._awaited("master", _MASTER)
            names = [f"worker-{number}" for number in range(len(others))]
            for name, host in zip(names, others, strict=True):
                self.workers.append(Worker(self._start_worker(name, host)))
            for name in names:
                self._awaited(name, _REGISTERED)
        except BaseException:
            self.stop()
            raise

    def _start_worker(self, name: str, host: Host) -> subprocess.Popen[bytes]:
        place = ("--work-dir", str(self._folder / f"{name}-work"))
        size = ("--host", host.address, "--cores", "1", "--memory", "1g")
        return self._start(name, host, "worker.Worker", *size, *place, self.url)

    def stop(self) -> None:
        """Ends all processes."""
        for worker in (*self.workers, Worker(self._master)):
            if worker.process.poll() is None:
                worker.kill()

    def _start(self, name: str, host: Host, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        temporary = self._folder / f"{name}-tmp"
        temporary.mkdir(parents=True)
        places = {"TMPDIR": str(temporary), "SPARK_LOCAL_DIRS": str(temporary)}
        # Executors inherit what their worker has.
        home = str(Path(pyspark.__file__).parent)
        spark = {"SPARK_HOME": home, "SPARK_SCALA_VERSION": "2.13", "SPARK_LOCAL_IP": host.address}
        own = {**spark, **places, "PYTHONPATH": str(SOURCES)}
        environment = {**os.environ, **ensure_java(), **own}
        java_home = environment.get("JAVA_HOME")
        java = f"{java_home}/bin/java" if java_home else "java"
        options = ["-Xmx512m", "-Dspark.master.rest.enabled=false", *self._options]
        main = f"org.apache.spark.deploy.{kind}"
        command = [*host.enter, java, *options, "-cp", f"{home}/jars/*", main]
        with (self._folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [*command, "--webui-port", "0", *arguments],
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
