"""A cluster of hosts, each a network namespace: one is cut off, one slowed down, one killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.servers.cluster_driver import JOIN
from support.servers.host_namespaces import HostNamespaces, NoNamespacesError
from support.servers.spark_cluster import Host, StandaloneCluster
from support.spark.stream_files import Files, embedded, in_order, random_batches, read_sink

pytestmark = pytest.mark.hosts

WORKERS = 3
BATCHES = 10
PATIENCE_S = 900
CUT_OFF_S = 15  # longer than Spark waits for an executor to be heard of
SLOWED_S = 6
PAUSE_S = 0.3
# A worker that is not heard of is given up, and comes back.
SOON = ("-Dspark.worker.timeout=10",)
TESTS = Path(__file__).parents[1]


@dataclass
class Cluster:
    """The processes, and how their hosts are disturbed; host 0 has the master and the driver."""

    hosts: HostNamespaces
    spark: StandaloneCluster
    done: list[str] = field(default_factory=list)
    healing: list[threading.Timer] = field(default_factory=list)

    def cut_off(self) -> None:
        """Host 1 is not reached for a while."""
        self.hosts.cut_off(1)
        self._later(CUT_OFF_S, lambda: self.hosts.heal(1))
        self.done.append("cut off")

    def slow_down(self) -> None:
        """Packets of host 2 are late or lost; without netem, its processes stand still by turns."""
        how = self.hosts.slow_down(2)
        if not how:
            how = "paused by turns, as the kernel has no netem"
            threading.Thread(target=self._pause_by_turns, daemon=True).start()
        self.done.append(f"slowed ({how})")

    def kill(self) -> None:
        """Host 3 dies."""
        self.spark.workers[2].kill()
        self.done.append("killed")

    def _later(self, span_s: float, what: Callable[[], None]) -> None:
        self.healing.append(threading.Timer(span_s, what))
        self.healing[-1].start()

    def _pause_by_turns(self) -> None:
        until = time.monotonic() + SLOWED_S
        while time.monotonic() < until:
            stopped = self.spark.workers[1].processes()
            for sign in (signal.SIGSTOP, signal.SIGCONT):
                for process in stopped:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, sign)
                time.sleep(PAUSE_S)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    try:
        hosts = HostNamespaces(1 + WORKERS)
    except NoNamespacesError as reason:
        pytest.skip(f"no network namespaces can be made here: {reason}")
    try:
        places = [Host(hosts.address(each), hosts.enter(each)) for each in range(1 + WORKERS)]
        spark = StandaloneCluster(tmp_path_factory.mktemp("hosts"), places, SOON)
        made = Cluster(hosts, spark)
        try:
            yield made
        finally:
            for each in made.healing:
                each.join()
            spark.stop()
    finally:
        hosts.close()


def driver(cluster: Cluster, root: Path) -> subprocess.Popen[bytes]:
    """The driver on host 0."""
    program = [sys.executable, "-m", "support.servers.cluster_driver", "--buckets", str(WORKERS)]
    place = ["--root", str(root), "--master", cluster.spark.url]
    own = {"PYTHONPATH": os.pathsep.join([str(TESTS.parent / "src"), str(TESTS)])}
    with (root / "driver.log").open("wb") as log:
        return subprocess.Popen(
            [*cluster.hosts.enter(0), *program, *place, "--address", cluster.hosts.address(0)],
            env={**os.environ, **own},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def outputs(root: Path, running: subprocess.Popen[bytes]) -> Iterator[int]:
    """Counts the batches in the sink, each as soon as it is there, until the driver ends."""
    count, until = 0, time.monotonic() + PATIENCE_S
    while running.poll() is None:
        assert time.monotonic() < until, (root / "driver.log").read_text(errors="replace")
        if len(list((root / "out").glob("*.parquet"))) > count:
            count += 1
            yield count
        time.sleep(0.02)


def test_answers_are_those_of_an_undisturbed_run(cluster: Cluster, tmp_path: Path) -> None:
    batches = random_batches(BATCHES, seed=12)
    Files(None, tmp_path / "in").put_all(batches)
    disturbances = {1: cluster.cut_off, 4: cluster.slow_down, 7: cluster.kill}
    running = driver(cluster, tmp_path)
    try:
        for count in outputs(tmp_path, running):
            disturbances.get(count, lambda: None)()
    finally:
        running.kill()
        running.wait()
    log = (tmp_path / "driver.log").read_text(errors="replace")
    assert running.returncode == 0, log
    assert len(cluster.done) == len(disturbances), (cluster.done, log)
    print("disturbances:", ", ".join(cluster.done))  # noqa: T201 - how it was slowed differs
    undisturbed, _ = embedded(JOIN, batches)
    assert in_order(read_sink(tmp_path / "out")) == in_order(undisturbed.changes())
