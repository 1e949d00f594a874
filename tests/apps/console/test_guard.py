"""Every route of the application, as it lists them itself, is behind the guard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from support.small_registry import HOST, ORIGIN, PORT, SECRETS, client_of, guarded, small_registry
from windrow.apps.console.endpoints.health import HEALTH_PATHS
from windrow.apps.console.guard import SECURITY_HEADERS
from windrow.apps.console.hosts import Hosts
from windrow.apps.console.limits import SESSION_S, SESSIONS_LIMIT, URL_BYTES_LIMIT
from windrow.apps.console.registry import Registry
from windrow.apps.console.token import Secrets
from windrow.host_names import is_loopback

FILLED = {"name": "rooms", "stream": "temp", "path": "index.html"}
COOKIE = SECRETS.new_cookie()
GOOD = {"authorization": f"Bearer {SECRETS.token}", "content-type": "application/json"}
JSON_TYPE = "application/json"

# What a request is sent with, and the status that it must get.
BAD_REQUESTS = {
    "no token": ({"authorization": ""}, 401),
    "a wrong token": ({"authorization": "Bearer nonsense"}, 401),
    "a token that is not ASCII": ({"authorization": b"Bearer schl\xfcssel"}, 401),
    "the token as another scheme": ({"authorization": f"Basic {SECRETS.token}"}, 401),
    "the cookie's value as a token": ({"authorization": f"Bearer {COOKIE}"}, 401),
    "a wrong cookie": ({"authorization": "", "cookie": f"windrow_session_{PORT}=no"}, 401),
    "the token as a cookie": (
        {"authorization": "", "cookie": f"windrow_session_{PORT}={SECRETS.token}"},
        401,
    ),
    "another name": ({"host": f"evil.example:{PORT}"}, 421),
    "another port": ({"host": f"127.0.0.1:{PORT + 1}"}, 421),
    "no port": ({"host": "127.0.0.1"}, 421),
    "a name with a user": ({"host": f"x@127.0.0.1:{PORT}"}, 421),
    "an address that is not loopback": ({"host": f"192.168.1.5:{PORT}"}, 421),
    "another origin": ({"origin": "http://evil.example"}, 403),
    "no origin at all": ({"origin": "null"}, 403),
    "the origin of another port": ({"origin": f"http://127.0.0.1:{PORT + 1}"}, 403),
    "a page of another site": ({"sec-fetch-site": "cross-site"}, 403),
    "a page of the same site": ({"sec-fetch-site": "same-site"}, 403),
}


@pytest.fixture(scope="module")
def registry() -> Registry:
    return small_registry()


@pytest.fixture(scope="module")
def client(registry: Registry) -> Iterator[TestClient]:
    with TestClient(guarded(registry), base_url=ORIGIN, follow_redirects=False) as client:
        yield client


def routes() -> list[Route | WebSocketRoute]:
    app = guarded(small_registry(rows=0)).app
    assert isinstance(app, Starlette)
    found = []
    for route in app.routes:
        # A mount would hide routes from this test.
        assert isinstance(route, (Route, WebSocketRoute)), route
        assert not isinstance(route, Mount)
        found.append(route)
    return found


def path_of(route: Route | WebSocketRoute) -> str:
    path = route.path
    for name, value in FILLED.items():
        path = path.replace(f"{{{name}}}", value).replace(f"{{{name}:path}}", value)
    assert "{" not in path
    return path


HTTP = [
    (method, path_of(route))
    for route in routes()
    if isinstance(route, Route)
    for method in sorted(route.methods or ())
]
SOCKETS = [path_of(route) for route in routes() if isinstance(route, WebSocketRoute)]
# What no route has must be as well guarded as what one has.
HTTP += [("GET", "/nothing/here"), ("GET", "/static/../server.py"), ("OPTIONS", "/api/v1/queries")]
HTTP += [("PUT", "/api/v1/queries"), ("TRACE", "/"), ("POST", "/healthz")]

each_bad = pytest.mark.parametrize("case", BAD_REQUESTS)


def test_there_are_routes_of_both_kinds() -> None:
    assert len(HTTP) > 20
    assert SOCKETS == ["/api/v1/live"]


@each_bad
def test_a_bad_request_reaches_no_route(client: TestClient, case: str) -> None:
    headers, status = BAD_REQUESTS[case]
    for method, path in HTTP:
        answer = client.request(method, path, headers={**GOOD, **headers})
        check_headers(answer.headers)
        if status == 401 and path in HEALTH_PATHS and method in ("GET", "HEAD"):
            assert answer.status_code == 200  # an orchestrator has no token
            continue
        assert answer.status_code == status, (method, path)
        if method != "HEAD":
            assert answer.json()["error"]["code"] == f"WH{status}"
        assert "set-cookie" not in answer.headers


@each_bad
@pytest.mark.parametrize("path", SOCKETS)
def test_a_bad_websocket_is_not_accepted(client: TestClient, path: str, case: str) -> None:
    good = {**GOOD, "host": HOST}
    with client.websocket_connect(path, headers=good) as socket:
        assert "session" in socket.receive_json()
    bad = good | BAD_REQUESTS[case][0]
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(path, headers=bad):
        pass


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
)
def test_changes_are_taken_as_json_only(client: TestClient, method: str, kind: str) -> None:
    headers = {**GOOD, "content-type": kind}
    answer = client.request(method, "/api/v1/queries/rooms", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "WH415")


def test_what_is_let_through_has_the_headers(client: TestClient) -> None:
    for method, path in HTTP:
        if path.endswith("/feed"):
            continue  # it has no end that this client could wait for: test_server.py reads it
        if (method, path) == ("DELETE", "/api/v1/queries/rooms"):
            path = "/api/v1/queries/nobody"
        answer = client.request(method, path, headers=GOOD)
        assert answer.status_code not in (401, 403, 415, 421, 500), (method, path)
        check_headers(answer.headers)
        if not path.startswith("/static") and path != "/":
            assert answer.headers["cache-control"] == "no-store"


def check_headers(headers: object) -> None:
    for name, value in SECURITY_HEADERS.items():
        assert headers[name] == value  # type: ignore[index]
    policy = SECURITY_HEADERS["content-security-policy"]
    for part in (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ):
        assert part in policy
    assert "unsafe" not in policy


def test_the_token_becomes_a_cookie_and_leaves_the_address(client: TestClient) -> None:
    answer = client.get(f"/?token={SECRETS.token}", headers={"sec-fetch-site": "none"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/" in cookie
    assert SECRETS.token not in cookie
    assert SECRETS.token not in answer.text
    pair = cookie.partition(";")[0]
    let_in = client.get("/api/v1/session", headers={"cookie": pair})
    assert let_in.status_code == 200
    client.cookies.clear()


@pytest.mark.parametrize(
    ("said", "is_secure"),
    [({}, False), ({"x-forwarded-proto": "https"}, True), ({"x-forwarded-proto": "http"}, False)],
)
def test_behind_tls_the_cookie_is_sent_over_tls_only(
    client: TestClient, said: dict[str, str], is_secure: bool
) -> None:
    answer = client.get(f"/?token={SECRETS.token}", headers=said)
    assert ("; Secure" in answer.headers["set-cookie"]) == is_secure
    client.cookies.clear()


def test_who_logs_out_is_out_and_others_are_not(client: TestClient) -> None:
    pairs = [f"windrow_session_{PORT}={SECRETS.new_cookie()}" for _ in range(2)]
    sent = {"cookie": pairs[0], "content-type": JSON_TYPE}
    address = SOCKETS[0]
    with client.websocket_connect(address, headers={**sent, "host": HOST, "origin": ORIGIN}) as own:
        own.receive_json()
        answer = client.post("/api/v1/logout", headers=sent, json={})
        assert (answer.status_code, answer.json()) == (200, {})
        assert 'windrow_session_8642="";' in answer.headers["set-cookie"]
        with pytest.raises(WebSocketDisconnect):
            _ = [own.receive_json() for _ in range(100)]
    statuses = [
        client.get("/api/v1/session", headers={"cookie": pair}).status_code for pair in pairs
    ]
    assert statuses == [401, 200]
    assert client.post("/api/v1/logout", headers=GOOD, json={}).status_code == 200
    assert client.get("/api/v1/session", headers=GOOD).status_code == 200


def test_a_browser_that_was_long_away_has_to_be_let_in_again() -> None:
    now = [0.0]
    secrets = Secrets(clock=lambda: now[0])
    used, unused = secrets.new_cookie(), secrets.new_cookie()
    now[0] += SESSION_S * 0.8
    assert secrets.is_cookie(used)
    now[0] += SESSION_S * 0.8
    assert secrets.is_cookie(used)
    assert not secrets.is_cookie(unused)


def test_there_is_an_end_to_browsers() -> None:
    now = [0.0]
    secrets = Secrets(clock=lambda: now[0])
    cookies = []
    for _ in range(SESSIONS_LIMIT + 1):
        now[0] += 1
        cookies.append(secrets.new_cookie())
    assert not secrets.is_cookie(cookies[0])
    assert all(secrets.is_cookie(each) for each in cookies[1:])


def test_a_wrong_token_in_the_address_gets_no_cookie(client: TestClient) -> None:
    answer = client.get("/?token=wrong")
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


def test_a_person_without_token_sees_a_page(client: TestClient) -> None:
    answer = client.get("/", headers={"accept": "text/html,*/*"})
    assert answer.status_code == 401
    assert answer.headers["content-type"].startswith("text/html")
    assert "locked" in answer.text
    check_headers(answer.headers)


def test_the_exchange_is_guarded_against_other_places(client: TestClient) -> None:
    for headers, status in (
        ({"host": f"evil.example:{PORT}"}, 421),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"origin": "http://evil.example"}, 403),
    ):
        answer = client.get(f"/?token={SECRETS.token}", headers=headers)
        assert answer.status_code == status
        assert "set-cookie" not in answer.headers


def test_a_cookie_alone_does_not_open_a_websocket_without_origin(client: TestClient) -> None:
    cookie = {"cookie": f"windrow_session_{PORT}={COOKIE}", "host": HOST}
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect(SOCKETS[0], headers=cookie),
    ):
        pass
    with client.websocket_connect(SOCKETS[0], headers={**cookie, "origin": ORIGIN}) as socket:
        assert "session" in socket.receive_json()


def test_an_address_that_is_too_long_is_refused(registry: Registry) -> None:
    answer = client_of(registry).get(f"/api/v1/session?x={'y' * URL_BYTES_LIMIT}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "WH413")


def test_the_page_itself_may_use_the_console(registry: Registry) -> None:
    own = {"origin": ORIGIN, "sec-fetch-site": "same-origin", "host": HOST}
    assert client_of(registry).get("/api/v1/session", headers=own).status_code == 200


def test_a_ticket_serves_once() -> None:
    secrets = Secrets()
    ticket = secrets.ticket()
    assert ticket != secrets.token
    assert not secrets.is_ticket("")
    assert secrets.is_ticket(ticket)
    assert not secrets.is_ticket(ticket)


def test_names_for_a_console_that_others_reach() -> None:
    hosts = Hosts(80, ("stream.example",), is_remote=True)
    assert hosts.allows("stream.example")
    assert hosts.allows("192.168.1.5:80")
    assert hosts.allows("[fe80::1]:80")
    assert not hosts.allows("other.example")
    assert hosts.allows("stream.example:443")
    assert hosts.allows_origin("https://stream.example", "stream.example")
    assert not hosts.allows_origin("https://other.example", "stream.example")
    assert not hosts.allows("192.168.1.5:81")
    assert not hosts.allows("stream.example:http")
    assert not hosts.allows("")
    assert is_loopback("::1")
    assert not is_loopback("example.org")
