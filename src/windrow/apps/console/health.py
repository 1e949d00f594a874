"""Whether a service lives and is ready: what orchestrators ask, without the token."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Health", "Healthy"]


class Health(Protocol):
    """Reasons are short, and name no data: whoever reaches the port can read them."""

    def faults(self) -> list[str]:
        """Why it should be started anew; none as long as it lives."""

    def waits(self) -> list[str]:
        """Why it takes no rows now, besides its faults."""


class Healthy(Health):
    """A console that only shows: while it answers, it lives."""

    def faults(self) -> list[str]:
        """None."""
        return []

    def waits(self) -> list[str]:
        """None."""
        return []
