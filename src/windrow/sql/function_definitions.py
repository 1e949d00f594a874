"""CREATE FUNCTION: a body of SQL, or the name of a function of Python."""

from __future__ import annotations

from windrow.sql.cursor import Cursor
from windrow.sql.limits import check_tree
from windrow.sql.operands import parse_type
from windrow.sql.scalar import parse_expression
from windrow.sql.statements import CreateFunction

__all__ = ["parse_function"]

_HINT = "write CREATE FUNCTION f (x INT) RETURNS INT AS x + 1"
_PYTHON_HINT = "write AS 'module.function' LANGUAGE PYTHON"


def parse_function(cursor: Cursor) -> CreateFunction:
    """What follows CREATE FUNCTION."""
    name = cursor.name("the function")
    parameters = _parameters(cursor) if cursor.at("(") else None
    returns = str(parse_type(cursor)) if cursor.accept("RETURNS") else ""
    if not cursor.at_any("AS", "RETURN"):
        words = ["RETURNS", "AS"] if not returns else ["AS"]
        raise cursor.expected(" or ".join(words), possible=words, hint=_HINT)
    cursor.consume()
    place = cursor.place(name)
    if cursor.token.kind == "string" and cursor.ahead().upper == "LANGUAGE":
        python_name = cursor.consume().text
        cursor.expect("LANGUAGE")
        cursor.expect("PYTHON", hint=_PYTHON_HINT)
        is_vectorised = bool(cursor.accept("VECTORISED"))
        return CreateFunction(
            name.text, parameters, returns, None, python_name, is_vectorised, place=place
        )
    if parameters is None or not returns:
        lacking = "parameters" if parameters is None else "RETURNS type"
        message = f"the function {name.text!r} has no {lacking}"
        raise cursor.wrong("WS157", message, f"{_HINT}; of Python: {_PYTHON_HINT}", name)
    body = check_tree(parse_expression(cursor), cursor.text)
    return CreateFunction(name.text, parameters, returns, body, text=cursor.text, place=place)


def _parameters(cursor: Cursor) -> tuple[tuple[str, str], ...]:
    cursor.expect("(")
    found: list[tuple[str, str]] = []
    if cursor.accept(")"):
        return ()
    while True:
        name = cursor.name("a parameter")
        if any(name.text.lower() == known.lower() for known, _ in found):
            message = f"two parameters are called {name.text!r}"
            raise cursor.wrong("WS158", message, "give each a name of its own", name)
        found.append((name.text, str(parse_type(cursor))))
        if not cursor.accept(","):
            break
    cursor.expect(")", hint="a parameter is a name and a type")
    return tuple(found)
