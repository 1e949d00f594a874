"""JSON text as values and back, as Spark's parser reads it and its generator writes it.

Objects are lists of pairs, since a name may come twice. Single quotes and control characters in
texts are read, as Spark does; what follows the first value is left aside.
"""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal
from typing import Any

__all__ = ["Members", "double_text", "escape_pairs", "json_text", "read_json"]

_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', re.DOTALL)
_BEYOND_16_BITS = re.compile("[\U00010000-\U0010ffff]")
_BLANKS = re.compile(r"[ \t\r\n]*")
_PLAIN_FROM, _PLAIN_UNTIL = 1e-3, 1e7  # doubles between are written without an exponent


class Members(list[tuple[str, Any]]):
    """The members of an object, in their order."""


def _refuse(word: str) -> Any:
    raise ValueError(word)


_DECODER = json.JSONDecoder(object_pairs_hook=Members, parse_constant=_refuse, strict=False)


def read_json(text: str) -> Any:
    """The first value in the text; ValueError where it is not JSON.

    >>> read_json("{'a': [1, 2]} and more")
    [('a', [1, 2])]
    """
    start = _BLANKS.match(text)
    assert start is not None
    try:
        return _DECODER.raw_decode(text, start.end())[0]
    except RecursionError:
        raise ValueError("nested too deep") from None
    except ValueError:
        if "'" not in text:
            raise
        doubled = _QUOTED.sub(_in_double_quotes, text)
        return _DECODER.raw_decode(doubled, start.end())[0]


def _in_double_quotes(match: re.Match[str]) -> str:
    found = match.group()
    if found[0] == '"':
        return found
    inside = found[1:-1].replace("\\'", "'").replace('"', '\\"')
    return f'"{inside}"'


def json_text(value: Any) -> str:
    """The value as compact JSON.

    >>> json_text(read_json('{"a": 1e3, "b": [null, "x"]}'))
    '{"a":1000.0,"b":[null,"x"]}'
    """
    if isinstance(value, Members):
        inner = (f"{_quoted(name)}:{json_text(each)}" for name, each in value)
        return f"{{{','.join(inner)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(json_text, value))}]"
    if isinstance(value, float):
        return double_text(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def escape_pairs(text: str) -> str:
    """The text with characters beyond 16 bits as two escapes, as GET_JSON_OBJECT writes them."""
    return _BEYOND_16_BITS.sub(lambda each: json.dumps(each.group())[1:-1].upper(), text).replace(
        "\\U", "\\u"
    )


def double_text(value: float) -> str:
    """A double with the digits of Java: 1.0E10 from ten million on."""
    if math.isnan(value) or math.isinf(value):
        return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'
    if value == 0 or _PLAIN_FROM <= abs(value) < _PLAIN_UNTIL:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    places = "".join(map(str, digits)).rstrip("0") or "0"
    power = int(exponent) + len(digits) - 1
    return f"{'-' if sign else ''}{places[0]}.{places[1:] or '0'}E{power}"
