"""Hypothesis strategies for texts of WQL: expressions, queries, statements, scripts."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

__all__ = ["expressions", "queries", "scripts", "statements"]

DEPTH = 1  # queries within each other

_NAMES = st.sampled_from(
    ["a", "b", "k1", "Location", "error", "every", "`two words`", "`select`", "`tick``ed`", "ts"]
)
_STREAMS = st.sampled_from(["temp", "smoke", "s", "`order`"])
_UNITS = st.sampled_from(["", " SECOND", " seconds", " MINUTES", " Hour", " DAYS", " MILLISECOND"])
_LITERALS = st.one_of(
    st.integers(0, 10**18).map(str),
    st.sampled_from(["0.5", ".25", "1e3", "7L", "2.5D", "NULL", "TRUE", "false"]),
    st.sampled_from(["'x'", "'it''s'", '"double"', r"'back\\slash'", "DATE '2026-01-01'"]),
)
_COLUMNS = st.one_of(_NAMES, st.tuples(_STREAMS, _NAMES).map(".".join))


def expressions() -> st.SearchStrategy[str]:
    """Scalar expressions, comparisons always in brackets where they are operands."""
    return _EXPRESSIONS


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(
        ["+", "-", "*", "/", "%", "DIV", "||", "AND", "OR", "=", "<>", "<=>", ">="]
    )
    operand = inner.map(lambda text: f"({text})")
    return st.one_of(
        st.tuples(operand, operators, operand).map(" ".join),
        st.tuples(_COLUMNS, st.sampled_from(["+", "-", "||", "*"]), _COLUMNS).map(" ".join),
        operand.map(lambda text: f"NOT {text}"),
        operand.map(lambda text: f"- {text}"),
        st.tuples(operand, st.sampled_from(["IS NULL", "IS NOT NULL", "IS TRUE"])).map(" ".join),
        st.tuples(operand, st.sampled_from(["IN", "NOT IN"]), inner, inner).map(
            lambda parts: f"{parts[0]} {parts[1]} ({parts[2]}, {parts[3]})"
        ),
        st.tuples(operand, st.sampled_from(["", "NOT "]), operand, operand).map(
            lambda parts: f"{parts[0]} {parts[1]}BETWEEN {parts[2]} AND {parts[3]}"
        ),
        st.tuples(operand, st.sampled_from(["LIKE", "NOT LIKE", "RLIKE"])).map(
            lambda parts: f"{parts[0]} {parts[1]} 'x%'"
        ),
        st.tuples(st.sampled_from(["abs", "SUM", "COUNT", "lower", "unknown"]), inner).map(
            lambda parts: f"{parts[0]}({parts[1]})"
        ),
        st.tuples(st.sampled_from(["coalesce", "least", "CONCAT", "round"]), inner, inner).map(
            lambda parts: f"{parts[0]}({parts[1]}, {parts[2]})"
        ),
        st.tuples(inner, inner, inner).map(
            lambda parts: f"CASE WHEN {parts[0]} THEN {parts[1]} ELSE {parts[2]} END"
        ),
        st.tuples(inner, st.sampled_from(["int", "DECIMAL(10, 2)", "string", "timestamp"])).map(
            lambda parts: f"CAST({parts[0]} AS {parts[1]})"
        ),
    )


# Built once: a recursive strategy that is built anew for each draw costs more than what it draws.
_EXPRESSIONS = st.recursive(_LITERALS | _COLUMNS, _larger, max_leaves=5)


@st.composite
def _windows(draw: st.DrawFn) -> str:
    number = draw(st.integers(1, 500))
    unit = draw(_UNITS)
    return draw(
        st.sampled_from(
            [
                "",
                " [UNBOUNDED]",
                f" [{number}{unit}]",
                f" [RANGE {number}{unit}]",
                f" [RANGE Now-{number}, Now]",
                f" [RANGE {number * 4}{unit} SLIDE {number}{unit}]",
                f" [ROWS {number}]",
                f" [PARTITION BY a, `two words` ROWS {number}]",
            ]
        )
    )


@st.composite
def _sources(draw: st.DrawFn, depth: int) -> str:
    if draw(st.integers(0, 9)) == 0:
        return "HISTORY(s) [FROM '2026-01-01 09:30' TO NOW AT 1 MINUTE]"
    text = draw(_relations(depth))
    for _ in range(draw(st.integers(0, 2))):
        form = draw(st.sampled_from(_JOINS))
        text += form.format(draw(_relations(depth)), draw(expressions()))
    return text


_JOINS = [
    *(", {}", " JOIN {}", " INNER JOIN {} ON {}", " LEFT ANTI JOIN {} ON {}", " CROSS JOIN {}"),
    *(" LEFT JOIN {} ON {}", " RIGHT OUTER JOIN {} ON {}", " FULL JOIN {} USING (a, `select`)"),
    *(" LEFT SEMI JOIN {} ON {}", " SEMI JOIN {} USING (b)", " ANTI JOIN {} ON {}"),
    *(" NATURAL JOIN {}", " NATURAL LEFT OUTER JOIN {}"),
]


@st.composite
def _relations(draw: st.DrawFn, depth: int) -> str:
    alias = draw(st.sampled_from(["", " x", " AS `every`", " AS t (a, `two words`)"]))
    kind = draw(st.integers(0, 4)) if depth else 4
    if kind == 0:
        return f"({draw(_bodies(depth - 1))}){alias}"
    if kind == 1:
        return f"({draw(_bodies(depth - 1))} EVERY (500 DAYS)) [1 HOUR]{alias}"
    if kind == 2:
        joined = f"{draw(_sources(depth - 1))} JOIN {draw(_STREAMS)} ON {draw(expressions())}"
        return f"({joined}){alias}"
    return draw(_STREAMS) + draw(_windows()) + alias


_ORDERS = ["b", "b DESC, c", "2 ASC NULLS LAST", "`two words` DESC NULLS FIRST, b + 1"]
_FRAMES = [
    *("", " ROWS 5 PRECEDING", " ROWS BETWEEN UNBOUNDED PRECEDING AND 3 FOLLOWING"),
    *(" RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW", " RANGE 2.5 PRECEDING"),
    " RANGE BETWEEN 10 SECONDS PRECEDING AND INTERVAL '2 hours' FOLLOWING",
]


@st.composite
def _over(draw: st.DrawFn) -> str:
    call = draw(
        st.sampled_from(
            [
                *("row_number()", "RANK()", "ntile(4)", "lag(a, 1, 0)", "NTH_VALUE(a, 2)"),
                *("SUM(a)", "count(*) FILTER (WHERE a > 1)", "first_value(b)", "cume_dist()"),
            ]
        )
    )
    partition = draw(st.sampled_from(["", "PARTITION BY a", "PARTITION BY a, b % 2"]))
    order, frame = draw(st.sampled_from(_ORDERS)), draw(st.sampled_from(_FRAMES))
    return f"{call} OVER ({partition} ORDER BY {order}{frame})"


@st.composite
def _nested(draw: st.DrawFn, depth: int) -> str:
    """Expressions with queries in them."""
    query = draw(_bodies(depth))
    operand = f"({draw(expressions())})"
    return draw(
        st.sampled_from(
            [
                *(f"({query})", f"EXISTS ({query})", f"NOT EXISTS ({query})", f"(({query}))"),
                *(f"{operand} IN ({query})", f"{operand} NOT IN ({query})"),
                *(f"(a, {operand}) IN ({query})", f"{operand} IN ({operand}, ({query}))"),
                *(f"{operand} >= ALL ({query})", f"{operand} = ANY ({query})"),
                *(f"a <> SOME ({query})", f"1 + ({query}) IS NOT UNKNOWN"),
            ]
        )
    )


@cache
def _values(depth: int) -> st.SearchStrategy[str]:
    """Expressions of all kinds; none with queries in them at depth 0."""
    plain = [expressions(), _over()]
    return st.one_of(*plain, _nested(depth - 1)) if depth else st.one_of(*plain)


_GROUPS = [
    *("ROLLUP (a, (b, c))", "a, CUBE (b, c)", "GROUPING SETS ((a, b), (), ROLLUP (c, d), e)"),
    *("a, b WITH ROLLUP", "(a, b), c", "()", "GROUPING SETS ((a), (b)), c"),
]


@st.composite
def _selects(draw: st.DrawFn, depth: int) -> str:
    """SELECT up to QUALIFY."""
    items = draw(st.lists(_values(depth), min_size=1, max_size=3))
    aliases = draw(st.lists(st.sampled_from(["", " AS n", " m"]), min_size=3, max_size=3))
    listed = ", ".join(item + alias for item, alias in zip(items, aliases, strict=False))
    heads = [f"SELECT {listed}", f"SELECT DISTINCT {listed}", f"SELECT ALL {listed}"]
    text = draw(st.sampled_from([*heads, "SELECT *, s.*"]))
    if draw(st.integers(0, 9)):
        text += f" FROM {draw(_sources(depth))}"
    conditions = [f"({text})" for text in draw(st.lists(_values(depth), max_size=2))]
    if draw(st.booleans()):
        conditions.append(f"NOT EXISTS (SELECT 1 FROM u [5] WHERE {draw(expressions())})")
    if conditions:
        joined = draw(st.sampled_from([" AND ", " AND ", " OR "]))
        text += " WHERE " + joined.join(draw(st.permutations(conditions)))
    if draw(st.booleans()):
        grouped = draw(expressions() | st.sampled_from(_GROUPS))
        text += f" GROUP BY {grouped} HAVING {draw(expressions())}"
    ends = ["", "", " QUALIFY row_number() OVER (ORDER BY a) = 1"]
    named = " WINDOW w AS (PARTITION BY a), v AS (w ORDER BY b) QUALIFY sum(x) OVER v > 1"
    return text + draw(st.sampled_from([*ends, named]))


@st.composite
def _bodies(draw: st.DrawFn, depth: int) -> str:
    """A query without service clauses."""
    text = draw(_selects(depth))
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return "VALUES (1, 'a'), (NULL, 2 + 3)"
    if kind == 1 and depth:
        text = f"WITH x AS ({draw(_bodies(depth - 1))}), y (a, b) AS (VALUES (1, 2)) {text}"
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        word = draw(st.sampled_from(["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "MINUS ALL"]))
        part = draw(st.sampled_from(["{}", "({} LIMIT 2)", "({})"]))
        text = f"{text} {word} {part.format(draw(_selects(0)))}"
    if draw(st.booleans()):
        text += f" ORDER BY {draw(st.sampled_from(_ORDERS))}"
    ends = [" LIMIT 5", " LIMIT 5 OFFSET 2", " OFFSET 3 ROWS FETCH FIRST 2 ROWS ONLY"]
    text += draw(st.sampled_from(["", "", *ends]))
    return draw(st.sampled_from([text, text, f"({text})", f"({text}) LIMIT 3"]))


@st.composite
def queries(draw: st.DrawFn) -> str:
    """Any query, with any of its clauses."""
    text = draw(_bodies(draw(st.integers(0, DEPTH))))
    service = [" ERROR (2.5%)", " EVERY (500 DAYS)", " EVERY 12000 HOURS", " DURATION [70, 500]"]
    chosen = draw(st.lists(st.sampled_from(service), max_size=3, unique_by=lambda s: s.split()[0]))
    return text + "".join(chosen)


def statements() -> st.SearchStrategy[str]:
    """Any statement of a script."""
    values = st.sampled_from(["'text'", "5", "-2.5", "TRUE", "'it''s'"])
    streams = st.tuples(_STREAMS, _NAMES, values).map(
        lambda parts: (
            f"CREATE STREAM {parts[0]} ({parts[1]} string, p numeric(9), ts timestamp) TIME ts "
            f"LATENESS 1.5 SECONDS FROM files('p', {parts[1]} = {parts[2]}, a.b = {parts[2]})"
        )
    )
    histories = st.tuples(_STREAMS, _NAMES).map(
        lambda parts: (
            f"CREATE HISTORY ON {parts[0]} ({parts[1]}, v) GROUP BY {parts[1]} "
            "LEVELS (1 SECOND FOR 90 SECONDS, 0.5 HOURS FOR 2 DAYS, 1 DAY forever)"
        )
    )
    return st.one_of(
        queries(),
        queries().map(lambda text: f"EXPLAIN {text}"),
        queries().map(lambda text: f"CREATE VIEW v AS {text}"),
        queries().map(lambda text: f"create query q as {text} INTO memory('x')"),
        st.tuples(queries(), expressions()).map(
            lambda parts: f"CREATE ALERT a AS {parts[0]} WHEN {parts[1]} FOR 90 SECONDS INTO s('x')"
        ),
        expressions().map(lambda text: f"CREATE FUNCTION f (a INT) RETURNS STRING AS {text}"),
        st.sampled_from(
            [
                "create function f as 'm.f' language python",
                "CREATE FUNCTION f () RETURNS ARRAY<INT> AS 'm.f' LANGUAGE PYTHON VECTORISED",
            ]
        ),
        values.map(lambda value: f"SET some.option = {value}"),
        streams,
        histories,
    )


def scripts() -> st.SearchStrategy[list[str]]:
    """A few statements."""
    return st.lists(statements(), max_size=3)
