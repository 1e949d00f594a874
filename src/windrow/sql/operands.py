"""The operands of scalar expressions: literals, columns, calls, CAST, CASE and brackets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlglot import exp

from windrow.errors import BindingError
from windrow.schema import ColumnType, type_meant, type_named
from windrow.sql.call_forms import CALLABLE_WORDS, read_form
from windrow.sql.cursor import Cursor
from windrow.sql.elsewhere import FUNCTIONS, SIGNS
from windrow.sql.functions import IGNORES_NULLS, WITHIN_GROUP, build_call, without_over
from windrow.sql.group_windows import GROUP_WINDOWS, bound_column, parse_group_window
from windrow.sql.intervals import at_interval, parse_interval
from windrow.sql.nested_query import NestedQuery
from windrow.sql.time_calls import clock_call, parse_time_call, with_unit
from windrow.sql.tokens import Token
from windrow.sql.window_functions import parse_order_nodes, parse_over
from windrow.sql.words import CLOCK_WORDS, needs_quotes
from windrow.type_syntax import TypeSyntaxError, TypeWord, type_in_words

__all__ = ["identifier", "mark", "nested_query", "parse_operand", "parse_type"]

Reader = Callable[[Cursor], exp.Expression]

MAX_CASTS = 3
# A type in a query has at most so many words, a struct of many fields included.
MAX_TYPE_WORDS = 10_000
_TIME_WORDS = ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ")
_SUFFIXES = {"L": "bigint", "S": "smallint", "Y": "tinyint", "D": "double", "F": "float"}


def parse_operand(cursor: Cursor, expression: Reader) -> exp.Expression:
    """The operand that comes next, signs and casts with it; `expression` reads what is nested."""
    signs = []
    while cursor.at_any("-", "+", "~"):
        signs.append(cursor.consume())
    operand = _parts(cursor, _primary(cursor, expression), expression)
    for _ in range(MAX_CASTS):  # a longer chain would be a nesting without brackets
        if not cursor.accept("::"):
            break
        operand = _cast(operand, parse_type(cursor))
    for sign in reversed(signs):
        if sign.text != "+":
            kind = exp.Neg if sign.text == "-" else exp.BitwiseNot
            operand = mark(kind(this=operand), sign)
    return operand


def mark(expression: exp.Expression, token: Token) -> exp.Expression:
    """The expression, with the token's place in its meta as sqlglot would note it."""
    return expression.update_positions(line=None, col=None, start=token.start, end=token.end - 1)


def identifier(token: Token) -> exp.Identifier:
    """A name as sqlglot's identifier; whether it is quoted depends on the name, not on the text."""
    name = exp.Identifier(this=token.text, quoted=needs_quotes(token.text))
    mark(name, token)
    return name


def _primary(cursor: Cursor, expression: Reader) -> exp.Expression:
    token = cursor.token
    if token.kind == "number":
        return _number(cursor)
    if token.kind == "string":
        return _string(cursor)
    reader = _WORDS.get(token.upper)
    if reader is not None:
        return reader(cursor, expression)
    if at_interval(cursor):
        return parse_interval(cursor)
    is_clock = token.kind == "word" and token.upper in CLOCK_WORDS
    if is_clock and cursor.ahead().text not in ("(", "."):
        return mark(clock_call(cursor), token)
    if cursor.at_any(*_TIME_WORDS) and cursor.ahead().kind == "string":
        return mark(_cast_literal(cursor), token)
    if cursor.at("ARRAY", "[") or cursor.at("MAP", "["):
        return _listed(cursor, expression)
    if token.kind == "word" and cursor.ahead().upper == "(" and _is_callable(cursor):
        return _call(cursor, expression)
    if cursor.at_name():
        return _column(cursor)
    raise _no_operand(cursor)


def _is_callable(cursor: Cursor) -> bool:
    return cursor.at_name() or cursor.token.upper in CALLABLE_WORDS


def _no_operand(cursor: Cursor) -> Exception:
    if cursor.at(":"):
        return cursor.wrong("WS107", "':' has no meaning in WQL", SIGNS[":"])
    if cursor.token.kind == "word":
        word = cursor.token.upper
        return cursor.wrong("WS117", f"expected a value, found the word {word}", _no_word(cursor))
    hint = "write a column, a number, a 'text', a function or an expression in brackets"
    if cursor.token.upper in ("&", "|") and cursor.before.upper == cursor.token.upper:
        hint = "write AND between conditions; & is for bits"
    return cursor.wrong("WS116", f"expected a value, found {cursor.token.shown()}", hint)


def _no_word(cursor: Cursor) -> str:
    if cursor.ahead().upper == "(" and cursor.token.text.lower() in FUNCTIONS:
        return FUNCTIONS[cursor.token.text.lower()]
    as_name = f"if it is a name, write it in backquotes: `{cursor.token.text}`"
    return (
        f"{as_name}; otherwise remove the comma before it" if cursor.before.text == "," else as_name
    )


def _number(cursor: Cursor) -> exp.Expression:
    token = cursor.consume()
    number = mark(exp.Literal.number(token.text), token)
    suffix = cursor.token
    if suffix.kind != "word" or suffix.start != token.end:
        return number
    if suffix.upper not in _SUFFIXES:
        hint = "put a space after the number"
        raise cursor.wrong("WS118", f"'{token.text}{suffix.text}' is not a number", hint, token)
    return _cast(number, type_named(_SUFFIXES[cursor.consume().upper]))


def _string(cursor: Cursor) -> exp.Expression:
    first = cursor.consume()
    is_double_quoted = cursor.text[first.start] == '"'
    parts = [first.text]
    while cursor.token.kind == "string":  # 'a' 'b' is one text, as in Spark
        parts.append(cursor.consume().text)
    literal = mark(exp.Literal.string("".join(parts)), first)
    if is_double_quoted:  # for who meant a name
        literal.meta["double_quotes"] = True
    return literal


def _cast_literal(cursor: Cursor) -> exp.Expression:
    kind = type_named(cursor.consume().text)
    return _cast(_string(cursor), kind)


def _column(cursor: Cursor) -> exp.Expression:
    if cursor.token.upper in ("WINDOW", "SESSION_WINDOW") and cursor.ahead().text == ".":
        for part in ("START", "END"):
            if cursor.ahead(2).upper == part:  # window.start, as Spark has it
                first, _, _ = cursor.consume(), cursor.consume(), cursor.consume()
                column = mark(bound_column(f"window_{part.lower()}"), first)
                column.meta["field"] = part.lower()  # what Spark names it in an answer
                return column
    first = cursor.consume()
    column = exp.Column(this=identifier(first))
    if cursor.accept("."):
        if cursor.at("*"):
            hint = "use alias.* only as an item of the select list"
            raise cursor.wrong("WS119", "alias.* cannot be part of an expression", hint)
        column = exp.Column(this=identifier(cursor.name("a column")), table=identifier(first))
    return column


def _parts(cursor: Cursor, operand: exp.Expression, expression: Reader) -> exp.Expression:
    """The operand with .field and [index] behind it."""
    while cursor.at_any(".", "["):
        sign = cursor.consume()
        if sign.text == ".":
            name = identifier(cursor.name("a field"))
            operand = mark(exp.Dot(this=operand, expression=name), sign)
            continue
        index = expression(cursor)
        cursor.expect("]", hint="write items[0] for an element, m['key'] for a value of a map")
        operand = mark(exp.Bracket(this=operand, expressions=[index]), sign)
    return operand


def _listed(cursor: Cursor, expression: Reader) -> exp.Expression:
    """ARRAY[1, 2] and MAP['a', 1], as Flink writes them."""
    name = cursor.consume()
    cursor.expect("[")
    arguments = [] if cursor.at("]") else _arguments(cursor, expression)
    cursor.expect("]")
    return mark(build_call(name, arguments, cursor), name)


def _call(cursor: Cursor, expression: Reader) -> exp.Expression:
    return _with_arguments(cursor, cursor.consume(), expression)


def _with_arguments(cursor: Cursor, name: Token, expression: Reader) -> exp.Expression:
    cursor.expect("(")
    if name.upper in GROUP_WINDOWS and not cursor.at(")"):
        return mark(parse_group_window(cursor, name, expression), name)
    of_time = parse_time_call(cursor, name, expression)
    if of_time is not None:
        return mark(of_time, name)
    arguments: list[exp.Expression] = []
    form = read_form(cursor, name, expression, lambda at: parse_operand(at, expression))
    if form is not None:
        name, arguments = replace(name, text=form[0]), form[1]
    elif cursor.at("*"):
        arguments.append(mark(exp.Star(), cursor.consume()))
    elif cursor.accept("DISTINCT"):
        arguments.append(exp.Distinct(expressions=_arguments(cursor, expression)))
    elif not cursor.at(")"):
        cursor.accept("ALL")
        arguments = _arguments(cursor, expression)
        word, arguments = with_unit(cursor, name, arguments)
        name = replace(name, text=word)
    if not cursor.accept(")"):
        hint = FUNCTIONS.get(name.text.lower(), "close the call with ), or write a comma")
        raise cursor.expected("')'", hint=hint)
    if name.upper == "ROW":  # what Flink calls a struct
        name = replace(name, text="STRUCT")
    call = mark(build_call(name, arguments, cursor), name)
    return _over(cursor, _filtered(cursor, call, expression), expression)


def _arguments(cursor: Cursor, expression: Reader) -> list[exp.Expression]:
    arguments = [_argument(cursor, expression)]
    while cursor.accept(","):
        arguments.append(_argument(cursor, expression))
    return arguments


def _argument(cursor: Cursor, expression: Reader) -> exp.Expression:
    """An expression, or a function without a name: x -> x + 1, (x, y) -> x + y."""
    names = _lambda_names(cursor)
    if not names:
        return expression(cursor)
    first = cursor.token
    for _ in range(2 * len(names) + 1 if cursor.at("(") else 1):
        cursor.consume()
    cursor.expect("-", ">")
    node = exp.Lambda(this=expression(cursor), expressions=[identifier(each) for each in names])
    return mark(node, first)


def _lambda_names(cursor: Cursor) -> list[Token]:
    """The names of the parameters that come next; none where no function without a name does."""
    in_brackets = cursor.at("(")
    names, ahead = [], int(in_brackets)
    while cursor.ahead(ahead).kind in ("word", "quoted"):
        names.append(cursor.ahead(ahead))
        ahead += 1
        if not in_brackets or cursor.ahead(ahead).upper != ",":
            break
        ahead += 1
    if in_brackets and cursor.ahead(ahead).upper != ")":
        return []
    sign, tip = cursor.ahead(ahead + in_brackets), cursor.ahead(ahead + in_brackets + 1)
    is_arrow = sign.upper == "-" and tip.upper == ">" and sign.end == tip.start
    return names if is_arrow else []


def _filtered(cursor: Cursor, call: exp.Expression, expression: Reader) -> exp.Expression:
    if cursor.at("WITHIN", "GROUP") and isinstance(call, WITHIN_GROUP):
        call = _within_group(cursor, call, expression)
    if cursor.at("WITHIN", "GROUP") and isinstance(call, exp.GroupConcat):
        call = _in_order(cursor, call, expression)
    if cursor.at("WITHIN", "GROUP"):
        hint = (
            "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) is supported, PERCENTILE_DISC and MODE"
        )
        raise cursor.unsupported("WU109", "WITHIN GROUP is not supported here", hint)
    if not cursor.at("FILTER", "("):
        return call
    cursor.expect("FILTER", "(")
    cursor.expect("WHERE", hint="write FILTER (WHERE condition)")
    condition = expression(cursor)
    cursor.expect(")")
    return exp.Filter(this=call, expression=exp.Where(this=condition))


def _within_group(cursor: Cursor, call: exp.Expression, expression: Reader) -> exp.Expression:
    """PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)."""
    word = cursor.expect("WITHIN", "GROUP")
    cursor.expect("(")
    cursor.expect("ORDER", "BY")
    keys = parse_order_nodes(cursor, expression)
    cursor.expect(")")
    return mark(exp.WithinGroup(this=call, expression=exp.Order(expressions=keys)), word)


def _in_order(cursor: Cursor, call: exp.GroupConcat, expression: Reader) -> exp.Expression:
    """LISTAGG(x, ',') WITHIN GROUP (ORDER BY y)."""
    cursor.expect("WITHIN", "GROUP")
    cursor.expect("(")
    cursor.expect("ORDER", "BY")
    keys = parse_order_nodes(cursor, expression)
    cursor.expect(")")
    call.set("this", exp.Order(this=call.this, expressions=keys))
    return call


def _over(cursor: Cursor, call: exp.Expression, expression: Reader) -> exp.Expression:
    if cursor.at("IGNORE", "NULLS") and isinstance(call, (*IGNORES_NULLS, exp.Anonymous)):
        plain = without_over(call)
        if isinstance(plain, IGNORES_NULLS) and cursor.ahead(2).upper != "OVER":
            cursor.expect("IGNORE", "NULLS")
            plain.set("expressions", [*plain.expressions[:1], exp.true()])
            call = plain
    if cursor.at("IGNORE", "NULLS"):
        hint = "leave rows with NULL out in a query in FROM: WHERE x IS NOT NULL"
        raise cursor.unsupported("WU104", "IGNORE NULLS is not supported", hint)
    cursor.accept("RESPECT", "NULLS")
    if cursor.at("OVER"):
        return parse_over(cursor, call, expression)
    return without_over(call)


def nested_query(cursor: Cursor) -> exp.Expression:
    """The query in brackets that comes next, as a node."""
    opening = cursor.token
    return mark(NestedQuery(query=cursor.query_in_brackets()), opening)


def _brackets(cursor: Cursor, expression: Reader) -> exp.Expression:
    if cursor.at_query_in_brackets():
        return nested_query(cursor)
    opening = cursor.expect("(")
    inside = expression(cursor)
    if cursor.accept(","):
        row = exp.Tuple(expressions=[inside, *_arguments(cursor, expression)])
        cursor.expect(")")
        return mark(row, opening)
    cursor.expect(")")
    return mark(exp.Paren(this=inside), opening)


def _case(cursor: Cursor, expression: Reader) -> exp.Expression:
    word = cursor.expect("CASE")
    subject = None if cursor.at("WHEN") else expression(cursor)
    branches = []
    while cursor.accept("WHEN"):
        condition = expression(cursor)
        cursor.expect("THEN")
        branches.append(exp.If(this=condition, true=expression(cursor)))
    if not branches:
        raise cursor.expected("WHEN", possible=["WHEN"])
    default = expression(cursor) if cursor.accept("ELSE") else None
    cursor.expect("END")
    return mark(exp.Case(this=subject, ifs=branches, default=default), word)


def _cast_call(cursor: Cursor, expression: Reader) -> exp.Expression:
    word = cursor.consume()
    cursor.expect("(")
    value = expression(cursor)
    cursor.expect("AS")
    kind = parse_type(cursor)
    cursor.expect(")")
    if word.upper == "CAST":
        return mark(_cast(value, kind), word)
    target = exp.DataType.build(kind.spark, dialect="spark")
    return mark(exp.TryCast(this=value, to=target, safe=True), word)


def _cast(value: exp.Expression, kind: ColumnType) -> exp.Expression:
    return exp.Cast(this=value, to=exp.DataType.build(kind.spark, dialect="spark"))


def parse_type(cursor: Cursor) -> ColumnType:
    """The column type that comes next."""
    word = cursor.token
    if not cursor.at_name():
        cursor.name("a type")  # which says what is wrong
    try:
        syntax, count = type_in_words(list(_type_words(cursor)))
        kind = type_meant(syntax)
    except TypeSyntaxError as problem:
        code = "WB723" if problem.is_depth else "WB720"
        place = cursor.place(word)
        raise BindingError(code, problem.message, hint=problem.hint, place=place) from None
    except BindingError as error:
        place = cursor.place(word)
        raise BindingError(error.code, error.message, hint=error.hint, place=place) from None
    for _ in range(count):
        cursor.consume()
    return kind


def _type_words(cursor: Cursor) -> Iterator[TypeWord]:
    """The words up to where a type must have ended."""
    for ahead in range(MAX_TYPE_WORDS):
        token = cursor.ahead(ahead)
        if token.kind == "end" or token.upper == ";":
            return
        yield TypeWord(token.kind, token.text)


def _constant(cursor: Cursor, _: Reader) -> exp.Expression:
    token = cursor.consume()
    if token.upper == "NULL":
        return mark(exp.Null(), token)
    return mark(exp.Boolean(this=token.upper == "TRUE"), token)


def _exists(cursor: Cursor, expression: Reader) -> exp.Expression:
    word = cursor.expect("EXISTS")
    if cursor.at("(") and not cursor.at_query_in_brackets() and cursor.ahead().upper != ")":
        return _with_arguments(cursor, word, expression)
    if not cursor.at_query_in_brackets():
        hint = "write EXISTS (SELECT ...)"
        raise cursor.expected("a query in brackets", hint=hint)
    return mark(exp.Exists(this=nested_query(cursor)), word)


_WORDS: dict[str, Callable[[Cursor, Reader], exp.Expression]] = {
    "(": _brackets,
    "CASE": _case,
    "CAST": _cast_call,
    "TRY_CAST": _cast_call,
    "EXISTS": _exists,
    **dict.fromkeys(["NULL", "TRUE", "FALSE"], _constant),
}
