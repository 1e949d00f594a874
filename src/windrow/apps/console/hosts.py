"""Which names a console answers to: a page elsewhere whose name leads here must not be served."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.host_names import LOOPBACK_NAMES, is_address, name_and_port

__all__ = ["Hosts"]


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
        name, port = name_and_port(host)
        if name in self.names:  # a proxy may listen at any port
            return True
        if name is None or port != self.port:
            return False
        return name in LOOPBACK_NAMES or (self.is_remote and is_address(name))

    def allows_origin(self, origin: str, host: str | None) -> bool:
        """Whether an Origin header is that of the console's own page, at the same name."""
        # An https origin is that of a proxy which the user has put before the console.
        return self.allows(host) and origin in (f"http://{host}", f"https://{host}")
