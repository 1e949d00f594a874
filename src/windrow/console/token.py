"""The secret that a console is opened with, and the one that its cookie holds."""

from __future__ import annotations

import hmac
import secrets

__all__ = ["Secrets"]

SECRET_BYTES = 32


class Secrets:
    """Two different secrets: one that is seen in a cookie does not open the console elsewhere.

    >>> held = Secrets()
    >>> held.is_token(held.token), held.is_token(held.cookie), held.is_cookie(held.cookie)
    (True, False, True)
    """

    def __init__(self, token: str | None = None) -> None:
        self.token = token or secrets.token_urlsafe(SECRET_BYTES)
        self.cookie = secrets.token_urlsafe(SECRET_BYTES)
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

    def is_cookie(self, given: str) -> bool:
        """Whether it is the value of the cookie, likewise."""
        return _is_same(given, self.cookie)


def _is_same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), secret.encode())
