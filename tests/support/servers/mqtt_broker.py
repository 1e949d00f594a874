"""An MQTT broker of the tests' own, on the loopback address: mosquitto, with what it keeps."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

PATIENCE_S = 20.0


def program() -> str | None:
    return shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")


@dataclass
class MqttBroker:
    """Started again with the same port and the same folder."""

    program: str
    folder: Path
    port: int = 0
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def address(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    def start(self) -> None:
        with contextlib.closing(socket.socket()) as held:
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            held.bind(("127.0.0.1", self.port))
            self.port = held.getsockname()[1]
        told = [
            f"listener {self.port} 127.0.0.1",
            "allow_anonymous true",
            "persistence true",
            f"persistence_location {self.folder}/",
            "max_queued_messages 0",
            *(["user root"] if os.geteuid() == 0 else []),
        ]
        file = self.folder / "mosquitto.conf"
        file.write_text("\n".join(told) + "\n")
        with (self.folder / "log").open("wb") as log:
            command = [self.program, "-c", str(file)]
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        limit = time.monotonic() + PATIENCE_S
        while time.monotonic() < limit and self.process.poll() is None:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            time.sleep(0.05)
        raise RuntimeError((self.folder / "log").read_text(errors="replace"))

    def stop(self) -> None:
        """Ends it as its operator would: what it keeps is written."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait()

    def put(self, topic: str, payloads: list[bytes], *, retain: bool = False) -> None:
        client = Client(CallbackAPIVersion.VERSION2)
        client.connect("127.0.0.1", self.port)
        client.loop_start()
        sent = [client.publish(topic, payload, qos=1, retain=retain) for payload in payloads]
        for each in sent:
            each.wait_for_publish(PATIENCE_S)
        client.disconnect()
        client.loop_stop()


@contextlib.contextmanager
def mqtt_broker(found: str) -> Iterator[MqttBroker]:
    folder = Path(tempfile.mkdtemp(prefix="windrow-mqtt-"))
    made = MqttBroker(found, folder)
    try:
        made.start()
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder)
