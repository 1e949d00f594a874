"""Names in a Host header: whether they can be made to lead elsewhere.

A browser sends the name that it was given. A hostile page can make its own name lead to this
machine (DNS rebinding), but it cannot make the browser send another one.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

__all__ = ["LOOPBACK_NAMES", "is_address", "is_loopback", "name_and_port"]

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def name_and_port(host: str | None) -> tuple[str | None, int | None]:
    """The parts of a Host header; None where it is none.

    >>> name_and_port("localhost:8000"), name_and_port("[::1]"), name_and_port("a@b")
    (('localhost', 8000), ('::1', 80), (None, None))
    """
    if not host:
        return None, None
    try:
        parts = urlsplit(f"//{host}")
        if parts.netloc != host or parts.username is not None:
            return None, None
        return parts.hostname, parts.port or 80
    except ValueError:
        return None, None


def is_address(name: str) -> bool:
    """Whether it is a number, and no name that somebody has to look up."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
