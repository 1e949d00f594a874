"""Functions of URLs."""

from __future__ import annotations

from windrow.scalar_functions.entry import Kind, ScalarFunction
from windrow.schema import STRING

__all__ = ["URLS"]

_TEXT = (Kind.TEXT,)
_PARTS = (Kind.TEXT, Kind.TEXT, Kind.TEXT)

URLS: tuple[ScalarFunction, ...] = (
    ScalarFunction(
        "parse_url",
        _PARTS,
        STRING,
        optional=1,
        example="PARSE_URL('http://a.org/p?k=v', 'QUERY', 'k')",
        value="v",
        remedy="TRY_PARSE_URL returns NULL for such a text; or filter such rows out",
    ),
    ScalarFunction(
        "try_parse_url",
        _PARTS,
        STRING,
        optional=1,
        example="TRY_PARSE_URL('http://a.org/p', 'HOST')",
        value="a.org",
    ),
    ScalarFunction(
        "url_encode", _TEXT, STRING, example="URL_ENCODE('a b/é')", value="a+b%2F%C3%A9"
    ),
    ScalarFunction(
        "url_decode",
        _TEXT,
        STRING,
        is_total=True,
        example="URL_DECODE('a+b%2F')",
        value="a b/",
        remedy="TRY_URL_DECODE returns NULL for such a text; or filter such rows out",
    ),
    ScalarFunction("try_url_decode", _TEXT, STRING, example="TRY_URL_DECODE('%zz')", value="NULL"),
)
