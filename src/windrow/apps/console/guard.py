"""The guard before all routes: no request reaches one that it has not let through.

In this order: the name that it was sent to, where it comes from, who sends it, and in which form.
Whatever it answers, and whatever a route answers, carries the same headers.
"""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from windrow.apps.console.answers import ARROW, refused
from windrow.apps.console.door import Door
from windrow.apps.console.endpoints.health import HEALTH_PATHS
from windrow.apps.console.hosts import Hosts
from windrow.apps.console.limits import URL_BYTES_LIMIT
from windrow.apps.console.refusals import RequestError, not_json, too_large
from windrow.apps.console.token import Secrets

__all__ = [
    "POLICY_VIOLATED",
    "SECURITY_HEADERS",
    "STILL_LET_IN",
    "Guard",
    "cookie_of",
    "is_still_let_in",
]

# In a request's scope: says whether its secret still serves.
STILL_LET_IN = "windrow.still_let_in"
SECURITY_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; font-src 'self'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
# What a browser says of a request that a page elsewhere has caused: cross-site, same-site.
_OWN_SITES = ("same-origin", "none")
_CHANGING = ("POST", "PUT", "PATCH", "DELETE")
# What no page elsewhere can send without being asked for leave first, as it can send forms.
_NOT_OF_FORMS = ("application/json", "application/x-ndjson", ARROW)
POLICY_VIOLATED = 1008
LOCKED_PAGE = Path(__file__).parent / "static" / "locked.html"


class Guard:
    """Wraps an application."""

    def __init__(
        self, app: ASGIApp, hosts: Hosts, secrets: Secrets, door: Door | None = None
    ) -> None:
        self.app, self._hosts, self._secrets = app, hosts, secrets
        self._door = door or Door()
        # Cookies ignore ports: consoles on one host must not overwrite each other's.
        self.cookie_name = f"windrow_session_{hosts.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets a request through, or answers it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
            return
        send = _with_headers(send)
        try:
            answer = self._exchanged(scope)
            if answer is None:
                self._check(scope)
            # Who asks for the health alone stays a stranger.
            if not _asks_for_health(scope):
                self._let_in(scope)
        except RequestError as refusal:
            answer = _locked(scope, refusal) or refused(refusal)
        await (answer or self.app)(scope, receive, send)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._check_place(scope)
            self._check_sender(scope)
        except RequestError:
            await receive()
            await send({"type": "websocket.close", "code": POLICY_VIOLATED})
            return
        self._let_in(scope)
        await self.app(scope, receive, send)

    def _let_in(self, scope: Scope) -> None:
        """It may come in; what stays open asks now and then whether that still holds."""
        self._door.let_in(scope.get("client"))
        scope[STILL_LET_IN] = lambda: self._has_secret(Headers(scope=scope))

    def _check(self, scope: Scope) -> None:
        self._check_place(scope)
        if not _asks_for_health(scope):
            self._check_sender(scope)
        self._check_form(scope)

    def _check_place(self, scope: Scope) -> None:
        """The name, and the page that the request comes from."""
        headers = Headers(scope=scope)
        host = headers.get("host")
        if len(headers.getlist("host")) != 1 or not self._hosts.allows(host):
            raise RequestError(
                HTTPStatus.MISDIRECTED_REQUEST,
                "WH421",
                f"this console does not accept the host name {host!r}",
                "use the address that windrow console printed, or start it with --allow-host NAME",
            )
        origin = headers.get("origin")
        if origin is not None and not self._hosts.allows_origin(origin, host):
            raise _foreign(f"a page of {origin!r}")
        site = headers.get("sec-fetch-site")
        if site is not None and site not in _OWN_SITES:
            raise _foreign("a page of another site")

    def _check_sender(self, scope: Scope) -> None:
        """The token or the cookie."""
        headers = Headers(scope=scope)
        if not self._has_secret(headers):
            raise RequestError(
                HTTPStatus.UNAUTHORIZED,
                "WH401",
                "the token is missing or wrong",
                "open the address that windrow console printed, or send the header "
                "Authorization: Bearer TOKEN",
            )
        # Browsers say where a WebSocket is opened from; who has a cookie and does not is none.
        is_unsaid = scope["type"] == "websocket" and "origin" not in headers
        if is_unsaid and not self._has_token(headers):
            raise _foreign("a request without an origin")

    def _has_secret(self, headers: Headers) -> bool:
        return self._has_token(headers) or self._secrets.is_cookie(
            cookie_of(headers, self.cookie_name)
        )

    def _has_token(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and self._secrets.is_token(given.strip())

    def _check_form(self, scope: Scope) -> None:
        url_bytes = len(scope.get("raw_path") or b"") + len(scope["query_string"])
        if url_bytes > URL_BYTES_LIMIT:
            raise too_large("the address in bytes", URL_BYTES_LIMIT)
        if scope["method"] in _CHANGING:
            given = Headers(scope=scope).get("content-type", "")
            if given.partition(";")[0].strip().lower() not in _NOT_OF_FORMS:
                raise not_json(given)

    def _exchanged(self, scope: Scope) -> Response | None:
        """GET /?token=...: a cookie for the token, and an address without it."""
        if scope["path"] != "/" or scope["method"] != "GET" or not scope["query_string"]:
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if given is None:
            return None
        self._check_place(scope)
        if not self._secrets.is_token(given[-1]) and not self._secrets.is_ticket(given[-1]):
            return None  # refused as one who has no token; a cookie still serves
        answer = RedirectResponse("/", status_code=HTTPStatus.SEE_OTHER)
        answer.set_cookie(
            self.cookie_name,
            self._secrets.new_cookie(),
            path="/",
            secure=_is_encrypted(scope),
            httponly=True,
            samesite="strict",
        )
        return answer


def _asks_for_health(scope: Scope) -> bool:
    return scope["method"] in ("GET", "HEAD") and scope["path"] in HEALTH_PATHS


def cookie_of(headers: Headers, name: str) -> str:
    """The value of a cookie; "" where there is none."""
    return cookie_parser(headers.get("cookie", "")).get(name, "")


def is_still_let_in(scope: Scope) -> bool:
    """Whether the secret that a request was let in with still serves."""
    return bool(scope[STILL_LET_IN]())


def _is_encrypted(scope: Scope) -> bool:
    """Whether the browser speaks TLS: with a proxy before the console, as the proxy says.

    Who lies about it gets a cookie that a browser keeps for itself, and nothing else.
    """
    said = Headers(scope=scope).get("x-forwarded-proto", "")
    return "https" in (scope.get("scheme"), said.rpartition(",")[2].strip().lower())


def _locked(scope: Scope, refusal: RequestError) -> Response | None:
    """The page that a person sees who opens the console without its token."""
    wants_page = "text/html" in Headers(scope=scope).get("accept", "")
    if refusal.status != HTTPStatus.UNAUTHORIZED or scope["path"] != "/" or not wants_page:
        return None
    return HTMLResponse(LOCKED_PAGE.read_text(encoding="utf-8"), refusal.status)


def _foreign(who: str) -> RequestError:
    return RequestError(
        HTTPStatus.FORBIDDEN,
        "WH403",
        f"{who} cannot use this console",
        "open the console itself, at the address that it printed",
    )


def _with_headers(send: Send) -> Send:
    """Sends the same headers with every response; of the API nothing is kept by anybody."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return sending
