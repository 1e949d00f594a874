"""Requests that the console refuses: errors of ours, each with the status that HTTP has for it."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from windrow.errors import AdmissionError, WindrowError

__all__ = [
    "RequestError",
    "body_is_no_json",
    "console_failed",
    "error_of",
    "no_such_history",
    "no_such_inbox",
    "no_such_path",
    "no_such_query",
    "not_json",
    "not_rows",
    "read_only",
    "rows_are_full",
    "rows_are_not_taken",
    "rows_are_refused",
    "rows_left_out",
    "status_of",
    "too_large",
    "too_many",
    "wrong_header",
    "wrong_parameter",
]


class RequestError(WindrowError):
    """A request that the console cannot take."""

    def __init__(self, status: HTTPStatus, code: str, message: str, hint: str) -> None:
        self.status = status
        super().__init__(code, message, hint=hint)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return RequestError, (self.status, self.code, self.message, self.hint)


def status_of(error: WindrowError) -> HTTPStatus:
    """The status for an error: most are wrong texts of queries."""
    if isinstance(error, RequestError):
        return error.status
    return HTTPStatus.CONFLICT if isinstance(error, AdmissionError) else HTTPStatus.BAD_REQUEST


def error_of(error: WindrowError) -> dict[str, Any]:
    """The error as clients get it."""
    place = error.place
    return {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "line": place.line if place else None,
        "column": place.column if place else None,
        "length": place.length if place else None,
    }


def no_such_path(path: str) -> RequestError:
    """404 for a path."""
    hint = "/api/v1/openapi.json lists all paths"
    return RequestError(HTTPStatus.NOT_FOUND, "WH404", f"there is no {path!r} here", hint)


def no_such_query(name: str, known: list[str]) -> RequestError:
    """404 for a query."""
    hint = f"there are: {', '.join(known) or 'none'}"
    return RequestError(HTTPStatus.NOT_FOUND, "WH405", f"there is no query {name!r}", hint)


def no_such_history(stream: str, known: list[str]) -> RequestError:
    """404 for a history."""
    message = f"stream {stream!r} has no history"
    hint = f"there are histories of: {', '.join(known) or 'none'}"
    return RequestError(HTTPStatus.NOT_FOUND, "WH406", message, hint)


def read_only() -> RequestError:
    """403 for a change."""
    hint = "start the console without --read-only to add or stop queries"
    message = "this console is read-only"
    return RequestError(HTTPStatus.FORBIDDEN, "WH407", message, hint)


def too_large(what: str, limit: int) -> RequestError:
    """413 for a body or a text."""
    message = f"{what} is larger than {limit:,}"
    hint = "send less"
    return RequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "WH413", message, hint)


def not_json(content_type: str) -> RequestError:
    """415 for a body."""
    message = f"a request that changes something must be application/json, not {content_type!r}"
    hint = "send the header Content-Type: application/json, also with DELETE"
    return RequestError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "WH415", message, hint)


def body_is_no_json(problem: str) -> RequestError:
    """400 for a body."""
    hint = 'send an object such as {"text": "SELECT ..."}'
    message = f"the body is invalid: {problem}"
    return RequestError(HTTPStatus.BAD_REQUEST, "WH408", message, hint)


def wrong_parameter(name: str, given: str, hint: str) -> RequestError:
    """400 for a parameter of the query string."""
    message = f"{name}={given!r} cannot be"
    return RequestError(HTTPStatus.BAD_REQUEST, "WH409", message, hint)


def wrong_header(name: str, hint: str) -> RequestError:
    """400 for a header."""
    message = f"the header {name} is missing or wrong"
    return RequestError(HTTPStatus.BAD_REQUEST, "WH411", message, hint)


def no_such_inbox(stream: str, known: list[str]) -> RequestError:
    """404 for a stream that takes no rows here."""
    hint = f"streams with FROM http() do: {', '.join(known) or 'there is none'}"
    message = f"no rows can be sent to {stream!r}"
    return RequestError(HTTPStatus.NOT_FOUND, "WH412", message, hint)


def not_rows(content_type: str, known: list[str]) -> RequestError:
    """415 for a body of rows."""
    message = f"rows cannot be {content_type!r}"
    hint = f"send the header Content-Type with one of {', '.join(known)}"
    return RequestError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "WH416", message, hint)


def rows_left_out(expected: int) -> RequestError:
    """409 for a batch whose number leaves others out."""
    message = f"the next batch of this producer is number {expected}"
    hint = "send the batches in the order of their numbers, each until it is answered with 200"
    return RequestError(HTTPStatus.CONFLICT, "WH414", message, hint)


def rows_are_full() -> RequestError:
    """429: as many bytes wait as may."""
    message = "more rows wait to be kept than there is room for"
    hint = "send the same rows again after the time in Retry-After"
    return RequestError(HTTPStatus.TOO_MANY_REQUESTS, "WH429", message, hint)


def rows_are_refused(why: WindrowError) -> RequestError:
    """507: memory is short, and the ledger counts the rows as rejected."""
    message = f"rows were refused, these or others that were applied with them: {why.message}"
    hint = "give more memory; do not send them again: what was taken of them would count twice"
    return RequestError(HTTPStatus.INSUFFICIENT_STORAGE, "WH507", message, hint)


def rows_are_not_taken() -> RequestError:
    """503: it begins, ends, or the disk is slow."""
    message = "rows are not taken now; whether these are kept is not known"
    hint = "send the same rows again after the time in Retry-After"
    return RequestError(HTTPStatus.SERVICE_UNAVAILABLE, "WH504", message, hint)


def too_many(what: str, limit: int) -> RequestError:
    """503 for one more of them."""
    message = f"there are {limit} {what} already"
    hint = "close one first"
    return RequestError(HTTPStatus.SERVICE_UNAVAILABLE, "WH503", message, hint)


def console_failed(error: Exception) -> RequestError:
    """500: a fault of ours. Where the console runs it is shown whole, to clients it is named."""
    message = f"the console failed: {type(error).__name__}"
    hint = "look at the output of windrow console"
    return RequestError(HTTPStatus.INTERNAL_SERVER_ERROR, "WH500", message, hint)
