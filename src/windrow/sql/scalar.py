"""Scalar expressions: operators by precedence, as in Spark SQL, into sqlglot's nodes.

    OR < AND < NOT < comparisons, IS, IN, BETWEEN, LIKE < | < ^ < & < << >> >>> < + - ||
       < * / % DIV < signs < ::

Comparisons do not chain (`a = b = c`): dialects disagree on what that means, so brackets are asked
for. The parser is ours rather than sqlglot's because that one needs twenty frames for a bracket,
reads far more than WQL runs, and loses the place of most errors; tests compare the trees of both.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from windrow.sql.cursor import Cursor
from windrow.sql.operands import nested_query, parse_operand

__all__ = ["parse_conjunct", "parse_expression", "resume_expression"]

_OR, _AND, _NOT, _PREDICATE, _BITS, _XOR, _BITWISE_AND, _SHIFT, _SUM, _PRODUCT = range(1, 11)
_POWERS = {
    "OR": _OR,
    "AND": _AND,
    "|": _BITS,
    "^": _XOR,
    "&": _BITWISE_AND,
    **dict.fromkeys(["<<", ">>", ">>>"], _SHIFT),
    **dict.fromkeys(["+", "-", "||"], _SUM),
    **dict.fromkeys(["*", "/", "%", "DIV"], _PRODUCT),
}
_BINARY: dict[str, type[exp.Expression]] = {
    "OR": exp.Or,
    "AND": exp.And,
    "+": exp.Add,
    "-": exp.Sub,
    "*": exp.Mul,
    "%": exp.Mod,
    "DIV": exp.IntDiv,
    "&": exp.BitwiseAnd,
    "|": exp.BitwiseOr,
    "^": exp.BitwiseXor,
}
# They are calls by another name. Their signs come as two or three: `ARRAY<ARRAY<INT>>` has none.
_SHIFTS = {"<<": "SHIFTLEFT", ">>": "SHIFTRIGHT", ">>>": "SHIFTRIGHTUNSIGNED"}
_COMPARISONS: dict[str, type[exp.Expression]] = {
    "=": exp.EQ,
    "==": exp.EQ,
    "<>": exp.NEQ,
    "!=": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
    "<=>": exp.NullSafeEQ,
}
_LIKES: dict[str, type[exp.Expression]] = {
    "LIKE": exp.Like,
    "ILIKE": exp.ILike,
    "RLIKE": exp.RegexpLike,
    "REGEXP": exp.RegexpLike,
}
_QUANTIFIERS: dict[str, type[exp.Expression]] = {
    "ANY": exp.Any,
    "SOME": exp.Any,
    "ALL": exp.All,
}
_PREDICATES = frozenset([*_COMPARISONS, *_LIKES, "IS", "IN", "BETWEEN", "NOT"])


def parse_expression(cursor: Cursor) -> exp.Expression:
    """The expression that comes next, up to the first word that cannot continue it."""
    return _parse(cursor, _OR)


def parse_conjunct(cursor: Cursor) -> exp.Expression:
    """The expression that comes next, up to an AND or OR at its top."""
    return _parse(cursor, _NOT)


def resume_expression(cursor: Cursor, left: exp.Expression) -> exp.Expression:
    """Goes on with an expression whose first operand has been read already."""
    return _climb(cursor, left, _OR)


def _parse(cursor: Cursor, power: int) -> exp.Expression:
    if cursor.at_any("NOT", "!"):
        return _climb(cursor, _negation(cursor, power), power)
    return _climb(cursor, parse_operand(cursor, parse_expression), power)


def _negation(cursor: Cursor, power: int) -> exp.Expression:
    first = cursor.token
    if power > _NOT:
        hint = "put brackets around the NOT and what it negates"
        raise cursor.wrong("WS115", "NOT cannot follow an operator", hint)
    count = 0
    while cursor.at_any("NOT", "!"):
        cursor.consume()
        count += 1
    negated = _parse(cursor, _PREDICATE)
    for _ in range(count):
        negated = exp.Not(this=negated)
    negated.update_positions(line=None, col=None, start=first.start, end=first.end - 1)
    return negated


def _climb(cursor: Cursor, left: exp.Expression, least_power: int) -> exp.Expression:
    while True:
        word = _operator(cursor)
        power = _POWERS.get(word, 0)
        if power and power >= least_power:
            for _ in word if word in _SHIFTS else "1":
                cursor.consume()
            left = _binary(word, left, _parse(cursor, power + 1))
        elif word in _PREDICATES and least_power <= _PREDICATE:
            left = _predicate(cursor, left)
            _refuse_chain(cursor)
        else:
            return left


def _operator(cursor: Cursor) -> str:
    """The word or sign that comes next; two or three signs of a shift, without space, as one."""
    word = cursor.token.upper
    if word not in ("<", ">"):
        return word
    count = 1
    while count < 3 and cursor.ahead(count).upper == word and _stand_together(cursor, count):
        count += 1
    return word * count if word * count in _SHIFTS else word


def _stand_together(cursor: Cursor, count: int) -> bool:
    return cursor.ahead(count - 1).end == cursor.ahead(count).start


def _binary(operator: str, left: exp.Expression, right: exp.Expression) -> exp.Expression:
    if operator in _SHIFTS:
        return exp.Anonymous(this=_SHIFTS[operator], expressions=[left, right])
    if operator == "/":
        return exp.Div(this=left, expression=right, typed=False, safe=True)
    if operator == "||":
        return exp.DPipe(this=left, expression=right, safe=True)
    if isinstance(left, exp.DPipe):
        # Spark gives || the power of +, others a lower one: brackets keep it the same everywhere.
        left = exp.Paren(this=left)
    return _BINARY[operator](this=left, expression=right)


def _refuse_chain(cursor: Cursor) -> None:
    if cursor.token.upper in _PREDICATES or _POWERS.get(cursor.token.upper, 0) > _PREDICATE:
        hint = "put brackets around the comparison to evaluate first"
        raise cursor.wrong("WS114", f"{cursor.token.shown()} cannot follow a comparison", hint)


def _predicate(cursor: Cursor, left: exp.Expression) -> exp.Expression:
    word = cursor.token.upper
    if word in _COMPARISONS:
        cursor.consume()
        return _COMPARISONS[word](this=left, expression=_compared(cursor))
    if cursor.accept("IS"):
        return _is(cursor, left)
    negated = cursor.accept("NOT")
    reader = _READERS.get(cursor.token.upper)
    if reader is None:
        raise cursor.expected("IN, BETWEEN or LIKE", possible=list(_READERS))
    predicate = reader(cursor, left)
    return exp.Not(this=predicate) if negated else predicate


def _compared(cursor: Cursor) -> exp.Expression:
    """What stands behind the sign: a sum, or ANY or ALL of the rows of a query."""
    word = cursor.token.upper
    if word in _QUANTIFIERS and cursor.at_query_in_brackets(1):
        cursor.consume()
        return _QUANTIFIERS[word](this=nested_query(cursor))
    return _parse(cursor, _BITS)


def _is(cursor: Cursor, left: exp.Expression) -> exp.Expression:
    negated = cursor.accept("NOT")
    if cursor.accept("DISTINCT", "FROM"):
        kind = exp.NullSafeEQ if negated else exp.NullSafeNEQ
        return kind(this=left, expression=_parse(cursor, _BITS))
    if not cursor.at_any("NULL", "TRUE", "FALSE", "UNKNOWN"):
        words = ["NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT"]
        raise cursor.expected("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM", possible=words)
    # To be unknown is to be NULL, of a condition.
    value = exp.Null() if cursor.accept("UNKNOWN") else parse_operand(cursor, parse_expression)
    found = exp.Is(this=left, expression=value)
    return exp.Not(this=found) if negated else found


def _in(cursor: Cursor, left: exp.Expression) -> exp.Expression:
    cursor.expect("IN")
    if cursor.at_query_in_brackets():
        return exp.In(this=left, query=nested_query(cursor))
    cursor.expect("(")
    values = [parse_expression(cursor)]
    while cursor.accept(","):
        values.append(parse_expression(cursor))
    cursor.expect(")")
    return exp.In(this=left, expressions=values)


def _between(cursor: Cursor, left: exp.Expression) -> exp.Expression:
    cursor.expect("BETWEEN")
    low = _parse(cursor, _BITS)
    cursor.expect("AND")
    return exp.Between(this=left, low=low, high=_parse(cursor, _BITS))


def _like(cursor: Cursor, left: exp.Expression) -> exp.Expression:
    kind = _LIKES[cursor.consume().upper]
    found = kind(this=left, expression=_parse(cursor, _BITS))
    if kind is exp.RegexpLike or not cursor.accept("ESCAPE"):
        return found
    return exp.Escape(this=found, expression=_parse(cursor, _BITS))


_READERS: dict[str, Callable[[Cursor, exp.Expression], exp.Expression]] = {
    "IN": _in,
    "BETWEEN": _between,
    **dict.fromkeys(_LIKES, _like),
}
