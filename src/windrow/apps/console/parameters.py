"""What requests say: numbers of the query string, and the JSON of bodies, within their limits."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request

from windrow.apps.console.limits import (
    BODY_BYTES_LIMIT,
    NAME_CHARACTERS_LIMIT,
    QUERY_CHARACTERS_LIMIT,
)
from windrow.apps.console.refusals import body_is_no_json, too_large, wrong_parameter

__all__ = ["body_of", "count_of", "instant_given", "query_text", "text_of"]

_LARGEST = 2**62


async def body_of(request: Request, allowed: tuple[str, ...]) -> dict[str, Any]:
    """The object that a body holds, with none but the allowed names."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > BODY_BYTES_LIMIT:
            raise too_large("the body in bytes", BODY_BYTES_LIMIT)
    try:
        values = json.loads(body)
    except (ValueError, RecursionError) as problem:
        raise body_is_no_json(str(problem)) from None
    if not isinstance(values, dict):
        raise body_is_no_json("it is not an object")
    unknown = [name for name in values if name not in allowed]
    if unknown:
        raise body_is_no_json(f"there is no {unknown[0]!r}, only {', '.join(allowed)}")
    return values


def query_text(values: dict[str, Any]) -> str:
    """The text of a query in a body."""
    text = values.get("text")
    if not isinstance(text, str):
        raise body_is_no_json("'text' must be a string")
    if len(text) > QUERY_CHARACTERS_LIMIT:
        raise too_large("the query in characters", QUERY_CHARACTERS_LIMIT)
    return text


def text_of(values: dict[str, Any], name: str, default: str | None) -> str | None:
    """A short text in a body."""
    text = values.get(name, default)
    if text is not None and not isinstance(text, str):
        raise body_is_no_json(f"{name!r} must be a string")
    if text is not None and len(text) > NAME_CHARACTERS_LIMIT:
        raise too_large(f"{name!r} in characters", NAME_CHARACTERS_LIMIT)
    if text is not None and any("\ud800" <= each <= "\udfff" for each in text):
        # JSON can hold it, UTF-8 cannot: no answer that names the query could be sent.
        raise body_is_no_json(f"{name!r} contains half of a surrogate pair")
    return text


def count_of(request: Request, name: str, default: int, limit: int) -> int:
    """A whole number from 0 to a limit in the query string."""
    given = request.query_params.get(name)
    if given is None:
        return default
    number = _whole(given)
    if number is None or not 0 <= number <= limit:
        raise wrong_parameter(name, given, f"give a whole number from 0 to {limit:,}")
    return number


def instant_given(request: Request, name: str) -> int | None:
    """Microseconds since the epoch in the query string."""
    given = request.query_params.get(name)
    if given is None:
        return None
    number = _whole(given)
    if number is None or abs(number) > _LARGEST:
        raise wrong_parameter(name, given, "give whole microseconds since the epoch")
    return number


def _whole(given: str) -> int | None:
    try:
        return int(given) if len(given) <= 20 and given.isascii() else None
    except ValueError:
        return None
