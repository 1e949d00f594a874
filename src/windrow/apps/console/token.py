"""The secret that a console is opened with, and those that the cookies of browsers hold."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable

from windrow.apps.console.limits import SESSION_S, SESSIONS_LIMIT

__all__ = ["Secrets"]

SECRET_BYTES = 32


class Secrets:
    """A token, and a secret of its own for each browser that was let in with it.

    A browser that has not been seen for SESSION_S has to be let in again.

    >>> held = Secrets()
    >>> cookie = held.new_cookie()
    >>> held.is_token(held.token), held.is_token(cookie), held.is_cookie(cookie)
    (True, False, True)
    >>> held.forget_cookie(cookie)
    >>> held.is_cookie(cookie)
    False
    """

    def __init__(
        self, token: str | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.token = token or secrets.token_urlsafe(SECRET_BYTES)
        self._clock = clock
        self._seen_at: dict[str, float] = {}
        self._ticket = ""

    def ticket(self) -> str:
        """A token that serves once: others on the machine see how a browser is started."""
        self._ticket = secrets.token_urlsafe(SECRET_BYTES)
        return self._ticket

    def is_ticket(self, given: str) -> bool:
        """Whether it is the ticket, which is then used up."""
        if not self._ticket or not _is_same(given, self._ticket):
            return False
        self._ticket = ""
        return True

    def is_token(self, given: str) -> bool:
        """Whether it is the token, in a time that does not depend on where it differs."""
        return _is_same(given, self.token)

    def new_cookie(self) -> str:
        """The value for the cookie of one more browser; of too many, the oldest has to go."""
        if len(self._seen_at) >= SESSIONS_LIMIT:
            del self._seen_at[min(self._seen_at, key=self._seen_at.__getitem__)]
        made = secrets.token_urlsafe(SECRET_BYTES)
        self._seen_at[made] = self._clock()
        return made

    def is_cookie(self, given: str) -> bool:
        """Whether a browser holds it that was let in; it is then seen once more."""
        now = self._clock()
        for expired in [each for each, at in self._seen_at.items() if now - at > SESSION_S]:
            del self._seen_at[expired]
        found = [each for each in self._seen_at if _is_same(given, each)]
        for each in found:
            self._seen_at[each] = now
        return bool(found)

    def forget_cookie(self, given: str) -> None:
        """The browser that holds it is let in no more."""
        for each in [each for each in self._seen_at if _is_same(given, each)]:
            del self._seen_at[each]


def _is_same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), secret.encode())
