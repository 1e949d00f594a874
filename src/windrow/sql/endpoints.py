"""`source(options)` and `sink(options)`, and the values that options take."""

from __future__ import annotations

from sqlglot import exp

from windrow.sql.cursor import Cursor
from windrow.sql.dialect import WQL
from windrow.sql.statements import Endpoint
from windrow.sql.words import nearest, needs_quotes, print_name

__all__ = [
    "Value",
    "parse_endpoint",
    "parse_option_name",
    "parse_value",
    "print_endpoint",
    "print_option_name",
    "print_value",
]

Value = str | int | float | bool


def parse_endpoint(cursor: Cursor, what: str) -> Endpoint:
    """`name(value, ..., option = value, ...)`; empty brackets may be left out."""
    if cursor.token.kind == "string":
        hint = f"name what it is, such as parquet('{cursor.token.text}')"
        raise cursor.expected(f"the name of {what}", hint=hint)
    name = cursor.name(what)
    arguments: list[Value] = []
    options: dict[str, Value] = {}
    if cursor.accept("(") and not cursor.accept(")"):
        _entry(cursor, arguments, options)
        while cursor.accept(","):
            _entry(cursor, arguments, options)
        cursor.expect(")")
    return Endpoint(name.text, tuple(arguments), tuple(options.items()), place=cursor.place(name))


def _entry(cursor: Cursor, arguments: list[Value], options: dict[str, Value]) -> None:
    first = cursor.token
    if not cursor.at_name():
        if options:
            hint = "values without a name come first"
            raise cursor.wrong("WS150", "a value without a name follows a named one", hint)
        arguments.append(parse_value(cursor))
        return
    name = parse_option_name(cursor)
    cursor.expect("=")
    if name in options:
        raise cursor.wrong("WS151", f"the option {name!r} is given twice", "keep one", first)
    options[name] = parse_value(cursor)


def parse_option_name(cursor: Cursor) -> str:
    """A name, or several joined by dots."""
    parts = [cursor.name("an option").text]
    while cursor.accept("."):
        parts.append(cursor.name("an option").text)
    return ".".join(parts)


def parse_value(cursor: Cursor) -> Value:
    """A text, a number, TRUE or FALSE."""
    if cursor.at_any("TRUE", "FALSE"):
        return cursor.consume().upper == "TRUE"
    if cursor.token.kind == "string":
        return cursor.consume().text
    sign = -1 if cursor.accept("-") else 1
    if cursor.token.kind != "number":
        meant = nearest(cursor.token.text, ["TRUE", "FALSE"])
        hint = f"did you mean {meant}?" if meant else "write 'a text', a number, TRUE or FALSE"
        raise cursor.expected("a value", hint=hint)
    token = cursor.consume()
    if token.text.isdigit():
        return sign * int(token.text)
    number = sign * float(token.text)
    if number in (float("inf"), float("-inf")):
        raise cursor.wrong("WS152", f"{token.text} is too large", "write a smaller number", token)
    return number


def print_endpoint(endpoint: Endpoint) -> str:
    """The endpoint as WQL."""
    entries = [print_value(value) for value in endpoint.arguments]
    entries += [f"{print_option_name(name)} = {print_value(v)}" for name, v in endpoint.options]
    return f"{print_name(endpoint.name)}({', '.join(entries)})"


def print_option_name(name: str) -> str:
    """The name as WQL: dots stay bare where all that they join is plain."""
    if any(needs_quotes(part) for part in name.split(".")):
        return print_name(name)
    return name


def print_value(value: Value) -> str:
    """The value as WQL."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return exp.Literal.string(value).sql(dialect=WQL)
    return repr(value)
