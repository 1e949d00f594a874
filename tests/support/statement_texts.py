"""Hypothesis strategies for texts of WQL: expressions, queries, statements, scripts."""

from __future__ import annotations

from hypothesis import strategies as st

__all__ = ["expressions", "queries", "scripts", "statements"]

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
        ["+", "-", "*", "/", "%", "||", "AND", "OR", "=", "<>", "<=>", ">="]
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
def _sources(draw: st.DrawFn) -> str:
    if draw(st.integers(0, 9)) == 0:
        return "HISTORY(s) [FROM '2026-01-01 09:30' TO NOW AT 1 MINUTE]"
    text = draw(_STREAMS) + draw(_windows())
    for _ in range(draw(st.integers(0, 2))):
        alias = draw(st.sampled_from(["", " x", " AS `every`"]))
        joined = draw(_STREAMS) + draw(_windows()) + alias
        form = draw(st.sampled_from([", {}", " JOIN {}", " INNER JOIN {} ON {}"]))
        anti = draw(st.sampled_from([form, " LEFT ANTI JOIN {} ON {}"]))
        text += anti.format(joined, draw(expressions()))
    return text


@st.composite
def queries(draw: st.DrawFn) -> str:
    """SELECT with any of its clauses."""
    items = draw(st.lists(expressions(), min_size=1, max_size=3))
    aliases = draw(st.lists(st.sampled_from(["", " AS n", " m"]), min_size=3, max_size=3))
    listed = ", ".join(item + alias for item, alias in zip(items, aliases, strict=False))
    head = draw(st.sampled_from([f"SELECT {listed}", f"SELECT DISTINCT {listed}", "SELECT *, s.*"]))
    text = f"{head} FROM {draw(_sources())}"
    conditions = [f"({text})" for text in draw(st.lists(expressions(), max_size=2))]
    if draw(st.booleans()):
        conditions.append(f"NOT EXISTS (SELECT 1 FROM u [5] WHERE {draw(expressions())})")
    if conditions:
        text += " WHERE " + " AND ".join(draw(st.permutations(conditions)))
    if draw(st.booleans()):
        text += f" GROUP BY {draw(expressions())} HAVING {draw(expressions())}"
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
        queries().map(lambda text: f"create query q as {text} INTO memory('x')"),
        values.map(lambda value: f"SET some.option = {value}"),
        streams,
        histories,
    )


def scripts() -> st.SearchStrategy[list[str]]:
    """A few statements."""
    return st.lists(statements(), max_size=3)
