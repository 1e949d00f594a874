"""Parts of URLs by the rules of java.net.URI, and text as it stands in them."""

from __future__ import annotations

import re
from urllib.parse import quote_plus

from windrow.rows.scalar.values import Function, NoValueError, per_value

__all__ = ["URLS"]

# The parts of RFC 2396: scheme, authority, path, query, fragment.
_URI = re.compile(
    r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?\Z", re.S
)
_AUTHORITY = re.compile(r"(?:([^@]*)@)?(\[[^\]]*\]|[^:\[\]]*)(?::([0-9]*))?\Z")
# What no part may hold as it is; letters beyond ASCII may, unless they are controls or spaces.
_ILLEGAL = re.compile(r"[\x00-\x20\x7f<>\"{}|\\^`\x80-\xa0]|%(?![0-9A-Fa-f]{2})")
_HEX = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ESCAPED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def _part(url: str, part: str, key: str | None = None) -> str | None:
    if key is not None and part != "QUERY":
        return None
    match = _URI.match(url)
    if match is None or _ILLEGAL.search(url):
        raise NoValueError
    scheme, authority, path, query, fragment = match.groups()
    if scheme is not None and authority is None and not path.startswith("/"):
        return _of_opaque(scheme, url, fragment, part) if key is None else None
    if key is not None:
        return _value_of(query, key)
    found = {
        "PROTOCOL": scheme,
        "AUTHORITY": authority or None,
        "PATH": path,
        "QUERY": query,
        "REF": fragment,
        "FILE": path if query is None else f"{path}?{query}",
        "HOST": _inside(authority)[1],
        "USERINFO": _inside(authority)[0],
    }
    return found.get(part)


def _of_opaque(scheme: str, url: str, fragment: str | None, part: str) -> str | None:
    """What mailto:a@b.c has: a scheme and no path."""
    if url == f"{scheme}:":
        raise NoValueError
    return {"PROTOCOL": scheme, "REF": fragment}.get(part)


def _inside(authority: str | None) -> tuple[str | None, str | None]:
    match = _AUTHORITY.match(authority or "")
    if match is None or not authority or not match.group(2):
        return None, None
    return match.group(1), match.group(2)


def _value_of(query: str | None, key: str) -> str | None:
    if query is None:
        return None
    found = re.search(rf"(?:&|^){key}=([^&]*)", query)
    return found.group(1) if found else None


def _tried_part(url: str, part: str, key: str | None = None) -> str | None:
    try:
        return _part(url, part, key)
    except NoValueError:
        return None


def _encoded(text: str) -> str:
    return quote_plus(text, safe="*").replace("~", "%7E")


def _decoded(text: str) -> str | None:
    if _HEX.search(text):
        return None

    def bytes_of(match: re.Match[str]) -> str:
        return bytes.fromhex(match.group().replace("%", "")).decode("utf-8", "replace")

    return _ESCAPED.sub(bytes_of, text.replace("+", " "))


URLS: dict[str, Function] = {
    "parse_url": per_value(_part),
    "try_parse_url": per_value(_tried_part),
    "url_encode": per_value(_encoded),
    "url_decode": per_value(_decoded),
    "try_url_decode": per_value(_decoded),
}
