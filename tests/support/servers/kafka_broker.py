"""A Kafka broker of one node on the loopback address, and how tests write to and read from it."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path

from windrow.spark.processes.java import ensure_java

START_LIMIT_S = 180
CLUSTER = "WindrowTestsCluster0_g"  # any 16 bytes in base 64 name a cluster


class Broker:
    """Started by start(), gone after stop()."""

    def __init__(self, jars: Path, folder: Path) -> None:
        self._classes = f"{jars}/*"
        self._folder = folder
        self._port, controller = _free_ports(2)
        self._settings = folder / "server.properties"
        self._settings.write_text(_PROPERTIES.format(self._port, controller, folder / "logs"))
        self._java = str(Path(ensure_java()["JAVA_HOME"]) / "bin" / "java")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def servers(self) -> str:
        return f"127.0.0.1:{self._port}"

    def start(self) -> None:
        tool = ["kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", str(self._settings)]
        subprocess.run([*self._command(), *tool], check=True, capture_output=True)
        self.restart()

    def restart(self) -> None:
        """Starts it with what it has stored, after stop()."""
        with (self._folder / "broker.log").open("wb") as log:
            command = [*self._command(), "kafka.Kafka", str(self._settings)]
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        self._await()

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _command(self) -> list[str]:
        quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
        return [self._java, "-Xmx256m", "-XX:+UseSerialGC", quiet, "-cp", self._classes]

    def _await(self) -> None:
        assert self._process is not None
        limit = time.monotonic() + START_LIMIT_S
        while self._process.poll() is None and time.monotonic() < limit:
            try:
                socket.create_connection(("127.0.0.1", self._port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        log = (self._folder / "broker.log").read_text()
        raise RuntimeError(f"the broker did not start:\n{log[-4000:]}")


def _free_ports(count: int) -> list[int]:
    """Ports that nobody listens on; held all at once, so that they differ."""
    held = [socket.socket() for _ in range(count)]
    try:
        for each in held:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in held]
    finally:
        for each in held:
            each.close()


_PROPERTIES = """\
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{0},CONTROLLER://127.0.0.1:{1}
controller.quorum.voters=1@127.0.0.1:{1}
controller.listener.names=CONTROLLER
log.dirs={2}
num.partitions=2
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
# Records of tests are as old as they say.
log.retention.ms=-1
"""
