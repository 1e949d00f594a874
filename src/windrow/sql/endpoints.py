"""`source(options)` and `sink(options)`, and the values that options take."""

from __future__ import annotations

from sqlglot import exp

from windrow.sql.cursor import Cursor
from windrow.sql.dialect import WQL
from windrow.sql.statements import Endpoint, FromEnvironment
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
Given = Value | FromEnvironment


def parse_endpoint(cursor: Cursor, what: str) -> Endpoint:
    """`name(value, ..., option = value, ...)`; empty brackets may be left out."""
    if cursor.token.kind == "string":
        hint = f"name what it is, such as parquet('{cursor.token.text}')"
        raise cursor.expected(f"the name of {what}", hint=hint)
    name = cursor.name(what)
    arguments: list[Given] = []
    options: dict[str, Given] = {}
    if cursor.accept("(") and not cursor.accept(")"):
        _entry(cursor, arguments, options)
        while cursor.accept(","):
            _entry(cursor, arguments, options)
        cursor.expect(")")
    return Endpoint(name.text, tuple(arguments), tuple(options.items()), place=cursor.place(name))


def _entry(cursor: Cursor, arguments: list[Given], options: dict[str, Given]) -> None:
    first = cursor.token
    if not cursor.at_name() or cursor.at("ENV", "("):
        if options:
            hint = "values without a name come first"
            raise cursor.wrong("WS150", "a value without a name follows a named one", hint)
        arguments.append(_given(cursor))
        return
    name = parse_option_name(cursor)
    cursor.expect("=")
    if name in options:
        raise cursor.wrong("WS151", f"the option {name!r} is given twice", "keep one", first)
    options[name] = _given(cursor)


def _given(cursor: Cursor) -> Given:
    """A value as it stands, or env('NAME')."""
    if not cursor.accept("ENV", "("):
        return parse_value(cursor)
    if cursor.token.kind != "string":
        raise cursor.expected("a variable's name", hint="write env('NAME')")
    name = cursor.consume().text
    cursor.expect(")")
    return FromEnvironment(name)


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
    entries = [_print_given(value) for value in endpoint.arguments]
    entries += [f"{print_option_name(name)} = {_print_given(v)}" for name, v in endpoint.options]
    return f"{print_name(endpoint.name)}({', '.join(entries)})"


def _print_given(given: Given) -> str:
    if isinstance(given, FromEnvironment):
        return f"env({print_value(given.name)})"
    return print_value(given)


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
