"""Which names a console answers to: a page elsewhere whose name leads here must not be served.

A browser sends the name that it was given. A hostile page can make its own name lead to this
machine (DNS rebinding), but it cannot make the browser send another one.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

__all__ = ["Hosts", "is_loopback"]

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Hosts:
    """names: besides those of this machine itself. is_remote: addresses of any kind will do.

    An address is no name that could be made to lead elsewhere, so that with is_remote any of them
    serves: the console may be reached by several.
    """

    port: int
    names: tuple[str, ...] = ()
    is_remote: bool = False

    def allows(self, host: str | None) -> bool:
        """Whether a Host header is one of this console's.

        >>> hosts = Hosts(8000)
        >>> hosts.allows("localhost:8000"), hosts.allows("evil.example:8000"), hosts.allows(None)
        (True, False, False)
        """
        name, port = _parts(host)
        if name in self.names:  # a proxy may listen at any port
            return True
        if name is None or port != self.port:
            return False
        return name in _LOOPBACK_NAMES or (self.is_remote and _is_address(name))

    def allows_origin(self, origin: str, host: str | None) -> bool:
        """Whether an Origin header is that of the console's own page, at the same name."""
        # An https origin is that of a proxy which the user has put before the console.
        return self.allows(host) and origin in (f"http://{host}", f"https://{host}")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _parts(host: str | None) -> tuple[str | None, int | None]:
    if not host:
        return None, None
    try:
        parts = urlsplit(f"//{host}")
        if parts.netloc != host or parts.username is not None:
            return None, None
        return parts.hostname, parts.port or 80
    except ValueError:
        return None, None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
