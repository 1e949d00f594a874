"""A console that really serves, for the tests of a module."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from support.small_registry import small_registry
from windrow.apps.console.server import Address, ConsoleServer


@pytest.fixture(scope="module")
def server() -> Iterator[ConsoleServer]:
    server = ConsoleServer(small_registry(), Address())
    ready = threading.Event()
    thread = threading.Thread(target=server.run, args=(ready.set,))
    thread.start()
    assert ready.wait(30)
    yield server
    server.stop()
    thread.join(30)
