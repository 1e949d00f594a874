"""Serves a console on this machine until it is interrupted."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

import uvicorn

from windrow.apps.console.app import Service, application
from windrow.apps.console.door import Door, timed_protocol
from windrow.apps.console.hosts import Hosts
from windrow.apps.console.limits import CONNECTIONS_LIMIT, MESSAGE_BYTES_LIMIT
from windrow.apps.console.registry import Registry
from windrow.apps.console.token import Secrets
from windrow.errors import BindingError
from windrow.host_names import is_loopback

__all__ = ["Address", "ConsoleServer"]

CLOSING_S = 2  # connections that are still open then are cut


@dataclass(frozen=True)
class Address:
    """Where to listen; port 0: any that is free; None: the usual one, or any that is free.

    is_remote: others than this machine may reach it. names: that it may also be called by.
    """

    host: str = "127.0.0.1"
    port: int | None = 0
    is_remote: bool = False
    names: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuses an address that others reach, unless that is meant."""
        if not self.is_remote and not is_loopback(self.host):
            raise BindingError(
                "WB601",
                f"{self.host!r} is not a loopback address: others could reach the console",
                hint="omit --host, or add --allow-remote if that is intended",
            )


class ConsoleServer:
    """A console that listens; run() serves, in this thread, until stop() or a signal."""

    def __init__(
        self,
        registry: Registry,
        address: Address,
        usual_port: int = 0,
        secrets: Secrets | None = None,
        service: Service | None = None,
    ) -> None:
        address.check()
        self._registry = registry
        self._socket = _listening(address, usual_port)
        self.port = int(self._socket.getsockname()[1])
        self.host = address.host
        self.secrets = secrets or Secrets()
        door = Door()
        is_named = address.host not in _ANY and not is_loopback(address.host)
        names = (*address.names, *([address.host] if is_named else []))
        hosts = Hosts(self.port, names, address.is_remote)
        config = uvicorn.Config(
            application(registry, hosts, self.secrets, door, service),
            http=timed_protocol(door),
            log_level="warning",
            # The application has none; a second Ctrl-C would cut it off with a traceback.
            lifespan="off",
            # The log of requests would have the token in it.
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=CONNECTIONS_LIMIT,
            ws_max_size=MESSAGE_BYTES_LIMIT,
            timeout_graceful_shutdown=CLOSING_S,
            ws="websockets-sansio",
        )
        self._server = uvicorn.Server(config)

    @property
    def url(self) -> str:
        """The address without the token."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host and '[' not in host else host}:{self.port}/"

    @property
    def url_with_token(self) -> str:
        """The address that opens the console."""
        return f"{self.url}?token={self.secrets.token}"

    def url_for_once(self) -> str:
        """An address that opens the console one time."""
        return f"{self.url}?token={self.secrets.ticket()}"

    def run(self, when_ready: Callable[[], None] = lambda: None) -> None:
        """Serves until stop() is called or, in the main thread, Ctrl-C or SIGTERM."""
        watching = threading.Thread(target=self._tell_ready, args=(when_ready,), daemon=True)
        watching.start()
        self._registry.start()
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._registry.close()
            self._socket.close()

    def stop(self) -> None:
        """Ends run(), from any thread."""
        self._server.should_exit = True

    def _tell_ready(self, when_ready: Callable[[], None]) -> None:
        pause = threading.Event()
        while not self._server.started and not self._server.should_exit:
            pause.wait(0.02)
        if self._server.started:
            when_ready()


_ANY = ("0.0.0.0", "::", "")


def _listening(address: Address, usual_port: int) -> socket.socket:
    if address.port is None:
        try:
            return _bound(address.host, usual_port)
        except OSError:  # somebody else is there
            address = replace(address, port=0)
    try:
        return _bound(address.host, address.port or 0)
    except (OSError, OverflowError) as problem:
        raise BindingError(
            "WB602",
            f"the console cannot listen at {address.host}:{address.port}: {problem}",
            hint="choose another --port, or 0 for any free one",
        ) from problem


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family)
