"""Hosts of a network that exists on this machine only: network namespaces on one bridge.

Addresses are given inside the namespaces alone; the machine's own network is left as it is. All of
it goes with close(); what runs that were killed have left goes with the next one.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from pathlib import Path

__all__ = ["HostNamespaces", "NoNamespacesError", "Slowed"]

_PREFIX = "windrow"
_NAME = re.compile(rf"{_PREFIX}-(\d+)-\w+")
_NETWORK = "10.99.0"

Slowed = str  # how: "netem", or "" where the kernel cannot


class NoNamespacesError(Exception):
    """They cannot be made here; the text says why."""


class HostNamespaces:
    """So many hosts, named by number, each with an address that all others reach."""

    def __init__(self, count: int) -> None:
        if os.geteuid() != 0:
            raise NoNamespacesError("network namespaces need root")
        if shutil.which("ip") is None:
            raise NoNamespacesError("there is no program ip (iproute2)")
        _sweep()
        self._mark = f"{_PREFIX}-{os.getpid()}"
        try:
            self._make(count)
        except NoNamespacesError:
            self.close()
            raise

    def _make(self, count: int) -> None:
        hub = self.name("hub")
        _ip("netns", "add", hub)
        _ip("-n", hub, "link", "add", "bridge0", "type", "bridge")
        _ip("-n", hub, "link", "set", "bridge0", "up")
        for number in range(count):
            host, port = self.name(number), f"port{number}"
            _ip("netns", "add", host)
            ends = ("eth0", "netns", host, "type", "veth", "peer", "name", port, "netns", hub)
            _ip("link", "add", *ends)
            _ip("-n", hub, "link", "set", port, "master", "bridge0", "up")
            _ip("-n", host, "address", "add", f"{self.address(number)}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                _ip("-n", host, "link", "set", device, "up")

    def name(self, host: int | str) -> str:
        """The namespace of a host."""
        return f"{self._mark}-{host}"

    def address(self, host: int) -> str:
        """Where other hosts find it."""
        return f"{_NETWORK}.{10 + host}"

    def enter(self, host: int) -> tuple[str, ...]:
        """What stands before a command that is to run on the host."""
        return ("ip", "netns", "exec", self.name(host))

    def cut_off(self, host: int) -> None:
        """Its cable is pulled: packets are lost, and nobody is told."""
        _ip("-n", self.name("hub"), "link", "set", f"port{host}", "down")

    def heal(self, host: int) -> None:
        """The cable is back."""
        _ip("-n", self.name("hub"), "link", "set", f"port{host}", "up")

    def slow_down(self, host: int) -> Slowed:
        """Packets from the host take longer, and some are lost; '' where the kernel cannot."""
        given = ("qdisc", "add", "dev", "eth0", "root", "netem", "delay", "40ms", "loss", "2%")
        tc = shutil.which("tc")
        if tc is None:
            return ""
        done = subprocess.run([tc, "-n", self.name(host), *given], capture_output=True, check=False)
        return "" if done.returncode else "netem"

    def close(self) -> None:
        """Removes all of it; processes on the hosts must have ended."""
        for name in _names():
            if name.startswith(f"{self._mark}-"):
                with contextlib.suppress(NoNamespacesError):
                    _ip("netns", "delete", name)


def _sweep() -> None:
    """Removes those of processes that are no more."""
    for name in _names():
        found = _NAME.fullmatch(name)
        if found is not None and not Path(f"/proc/{found[1]}").exists():
            with contextlib.suppress(NoNamespacesError):
                _ip("netns", "delete", name)


def _names() -> list[str]:
    return [line.split()[0] for line in _ip("netns", "list").splitlines() if line.strip()]


def _ip(*words: str) -> str:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoNamespacesError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout
