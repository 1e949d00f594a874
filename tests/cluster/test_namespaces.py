"""Hosts as network namespaces: they reach each other, are cut off, and leave nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from support.servers.host_namespaces import HostNamespaces, NoNamespacesError

pytestmark = pytest.mark.hosts

SERVER = """
import socket
with socket.create_server(("0.0.0.0", 7000)) as server:
    print("ready", flush=True)
    while True:
        server.accept()[0].close()
"""
CLIENT = "import socket, sys; socket.create_connection((sys.argv[1], 7000), 2).close()"


def test_hosts_reach_each_other_until_one_is_cut_off() -> None:
    try:
        hosts = HostNamespaces(2)
    except NoNamespacesError as reason:
        pytest.skip(f"no network namespaces can be made here: {reason}")
    try:
        server = [*hosts.enter(0), sys.executable, "-c", SERVER]
        with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as running:
            try:
                assert running.stdout is not None
                assert running.stdout.readline() == "ready\n"
                assert is_reached(hosts)
                hosts.cut_off(0)
                assert not is_reached(hosts)
                hosts.heal(0)
                assert is_reached(hosts)
            finally:
                running.kill()
    finally:
        hosts.close()
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True)
    assert hosts.name("hub") not in listed.stdout


def is_reached(hosts: HostNamespaces) -> bool:
    """Whether host 1 gets a connection to host 0."""
    client = [*hosts.enter(1), sys.executable, "-c", CLIENT, hosts.address(0)]
    return subprocess.run(client, capture_output=True, check=False).returncode == 0


def test_who_is_not_root_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(NoNamespacesError, match="need root"):
        HostNamespaces(1)


def test_a_network_that_fails_halfway_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    before = set(namespaces())

    def no_address(_hosts: HostNamespaces, host: int) -> str:
        return "10.99.0.999" if host else "10.99.0.10"

    monkeypatch.setattr(HostNamespaces, "address", no_address)
    try:
        with pytest.raises(NoNamespacesError, match="ip "):
            HostNamespaces(2)
    finally:
        assert set(namespaces()) == before


def namespaces() -> list[str]:
    """The names of all that there are."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False)
    return [line.split()[0] for line in listed.stdout.splitlines() if line.strip()]
