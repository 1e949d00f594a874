"""Windows in GROUP BY, as Flink's TUMBLE(ts, INTERVAL '1' MINUTE), Spark's window(ts, '1 minute').

And behind FROM, as ksqlDB's WINDOW TUMBLING (SIZE 1 MINUTE). What is left after parsing is a window
behind its stream, and groups by window_start and window_end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from windrow.errors import QuerySyntaxError
from windrow.sql.cursor import Cursor
from windrow.sql.places import place_of
from windrow.sql.statements import Select, SelectItem, Source, Window
from windrow.sql.tokens import Token
from windrow.sql.window_clause import hopping, session_of, tumbling
from windrow.sql.window_sizes import parse_size
from windrow.window_kinds import UNBOUNDED

__all__ = [
    "GROUP_WINDOWS",
    "bound_column",
    "parse_group_window",
    "parse_window_clause",
    "with_group_windows",
]

START, END, TIME = "window_start", "window_end", "window_time"
_KINDS = ("TUMBLE", "HOP", "SESSION", "WINDOW", "SESSION_WINDOW")
# Functions of Flink that are columns here.
_BOUNDS = {
    f"{kind}_{part}": column
    for kind in ("TUMBLE", "HOP", "SESSION")
    for part, column in (("START", START), ("END", END), ("ROWTIME", TIME))
} | {"WINDOW_TIME": TIME}
GROUP_WINDOWS = frozenset([*_KINDS, *_BOUNDS])
# Columns of ksqlDB that are others here.
_PSEUDO = {"windowstart": START, "windowend": END}


def bound_column(name: str) -> exp.Expression:
    """The column with a bound of a window."""
    return exp.Column(this=exp.Identifier(this=name, quoted=False))


def parse_group_window(
    cursor: Cursor, name: Token, expression: Callable[[Cursor], exp.Expression]
) -> exp.Expression:
    """What follows the name and its bracket: a time and lengths; the bracket is closed."""
    arguments = [expression(cursor)]
    while cursor.accept(","):
        us = parse_size(cursor, f"a length of {name.upper}")
        arguments.append(exp.Literal.number(us))
    cursor.expect(")")
    if name.upper in _BOUNDS:
        return bound_column(_BOUNDS[name.upper])
    if cursor.at("."):  # window(ts, '1 minute').start
        return _field(cursor)
    return exp.Anonymous(this=name.upper, expressions=arguments)


def _field(cursor: Cursor) -> exp.Expression:
    cursor.expect(".")
    if cursor.accept("START"):
        return bound_column(START)
    cursor.expect("END", hint="a window has a start and an end")
    return bound_column(END)


def parse_window_clause(cursor: Cursor) -> Window | None:
    """WINDOW TUMBLING (SIZE 1 HOUR) and its like, if one comes next."""
    kinds = ("TUMBLING", "HOPPING", "SESSION")
    is_next = cursor.at("WINDOW") and cursor.ahead().upper in kinds
    if not is_next or cursor.ahead(2).upper != "(":
        return None
    place = cursor.place(cursor.consume())
    word = cursor.consume()
    cursor.expect("(")
    sizes = {"SIZE": parse_size(cursor, "the gap")} if word.upper == "SESSION" else {}
    while not cursor.at(")"):
        _option(cursor, sizes)
        if not cursor.accept(","):
            break
    cursor.expect(")")
    if "SIZE" not in sizes or (word.upper == "HOPPING" and "ADVANCE" not in sizes):
        hint = "write WINDOW HOPPING (SIZE 1 HOUR, ADVANCE BY 5 MINUTES)"
        raise cursor.wrong("WS702", f"WINDOW {word.upper} lacks a length of time", hint, word)
    return replace(_clause_window(cursor, word, sizes), place=place)


def _clause_window(cursor: Cursor, word: Token, sizes: dict[str, int]) -> Window:
    if word.upper == "SESSION":
        return session_of(sizes["SIZE"])
    if word.upper == "TUMBLING":
        return tumbling(sizes["SIZE"])
    return hopping(cursor, word, sizes["SIZE"], sizes["ADVANCE"])


def _option(cursor: Cursor, sizes: dict[str, int]) -> None:
    if cursor.accept(",") or cursor.at(")"):
        return
    if cursor.at("GRACE", "PERIOD"):
        hint = "how late rows may come is LATENESS of the stream: CREATE STREAM s ... LATENESS ..."
        raise cursor.unsupported("WU701", "GRACE PERIOD is not supported", hint)
    if cursor.accept("ADVANCE", "BY"):
        sizes["ADVANCE"] = parse_size(cursor, "the advance")
    elif cursor.accept("RETENTION"):
        parse_size(cursor, "the retention")  # windows that have closed are not kept
    else:
        cursor.expect("SIZE")
        sizes["SIZE"] = parse_size(cursor, "the size")


def with_group_windows(select: Select, clause: Window | None, cursor: Cursor) -> Select:
    """The SELECT with its window behind its stream; clause: that of a WINDOW behind FROM."""
    calls = [each for each in select.group_by if _is_window(each)]
    if not calls and clause is None:
        return select
    if len(calls) + (clause is not None) > 1 or (calls and select.grouping_sets):
        hint = "keep one window in GROUP BY, and no GROUPING SETS; or write s [TUMBLE 1 MINUTE]"
        raise _wrong("WS703", "a query has one window in GROUP BY", hint, select, calls)
    others = tuple(each for each in select.group_by if not _is_window(each))
    window = clause or _window(select, calls[0], cursor)
    place = _source_of(select, calls)
    if window.traits.is_session and not window.partition_by:
        window = replace(window, partition_by=_columns(select, others))
    sources = list(select.sources)
    sources[place] = replace(sources[place], window=window)
    if window.traits.is_session:
        select, sources = _sessions_behind_where(select, sources, calls)
    read = [each for item in select.items for each in item.expression.find_all(exp.Column)]
    bounds = (START, END, TIME) if any(each.name == TIME for each in read) else (START, END)
    groups = (*others, *map(bound_column, bounds)) if select.group_by else ()
    return _renamed(replace(select, sources=tuple(sources), group_by=groups), clause)


def _sessions_behind_where(
    select: Select, sources: list[Source], calls: Sequence[exp.Expr]
) -> tuple[Select, list[Source]]:
    """Sessions of GROUP BY are of the rows that WHERE leaves: it moves into a query in FROM."""
    if len(sources) > 1 or select.not_exists:
        what = "a join" if len(sources) > 1 else "NOT EXISTS"
        hint = "write a query in FROM, (SELECT ...) [SESSION 30 SECONDS PARTITION BY k] AS q, or "
        hint += "a session of one input, s [SESSION 30 SECONDS PARTITION BY k]"
        message = f"sessions in GROUP BY over {what}: of which rows they are is not clear"
        raise _wrong("WS703", message, hint, select, calls)
    if select.where is None:
        return select, sources
    (source,) = sources
    bare = replace(source, window=Window(UNBOUNDED.name, written=False))
    chosen = Select(
        select.text,
        (SelectItem(exp.Star(), None),),
        (bare,),
        where=select.where,
        places={name: place for name, place in select.places.items() if name == "WHERE"},
        start=select.start,
        end=select.end,
    )
    found = replace(source, stream="", query=chosen, columns=())
    return replace(select, where=None), [found]


def _is_window(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name in _KINDS


def _window(select: Select, call: exp.Expr, cursor: Cursor) -> Window:
    time, *written = call.expressions
    sizes = [int(each.this) for each in written]
    counts = {"TUMBLE": (1, 1), "HOP": (2, 2), "WINDOW": (1, 3)}.get(call.name, (1, 1))
    if not isinstance(time, exp.Column) or not counts[0] <= len(sizes) <= counts[1]:
        hint = "write TUMBLE(ts, INTERVAL '1' MINUTE), HOP(ts, slide, size), SESSION(ts, gap), "
        hint += "window(ts, '10 minutes', '5 minutes') or session_window(ts, '5 minutes')"
        raise _wrong("WS702", f"{call.name} needs a time and lengths", hint, select, [call])
    found = _of_sizes(call.name, sizes, cursor)
    return replace(found, time=time.name, place=place_of(time, select.text))


def _of_sizes(name: str, sizes: list[int], cursor: Cursor) -> Window:
    if name in ("SESSION", "SESSION_WINDOW"):
        return session_of(sizes[0])
    if len(sizes) == 1:
        return tumbling(sizes[0])
    if name == "HOP":
        return hopping(cursor, cursor.before, sizes[1], sizes[0])
    if sizes[0] == sizes[1]:
        return tumbling(sizes[0], *sizes[2:])
    return hopping(cursor, cursor.before, *sizes)


def _source_of(select: Select, calls: Sequence[exp.Expr]) -> int:
    """The place of the source that has the window: the one named, or the only one without."""
    alias = calls[0].expressions[0].table.lower() if calls else ""
    free = [
        place
        for place, source in enumerate(select.sources)
        if not source.window.written and _is_one(source) and alias in ("", source.alias.lower())
    ]
    if len(free) != 1:
        hint = "write the windows in FROM, each behind its stream: s [TUMBLE 1 MINUTE]"
        message = "which input has the window of GROUP BY is not clear"
        raise _wrong("WS703", message, hint, select, calls)
    return free[0]


def _is_one(source: Source) -> bool:
    return not source.joined and source.history is None


def _columns(select: Select, groups: tuple[exp.Expression, ...]) -> tuple[str, ...]:
    """Sessions are those of the other groups."""
    for each in groups:
        if not isinstance(each, exp.Column):
            hint = "write s [SESSION 30 SECONDS PARTITION BY k], and group by what you like"
            message = "sessions in GROUP BY are those of columns, and this is an expression"
            raise _wrong("WS703", message, hint, select, [each])
    return tuple(each.name for each in groups)


def _renamed(select: Select, clause: Window | None) -> Select:
    """With window_start in the place of WINDOWSTART, and both bounds in that of `window`."""

    def of(expression: exp.Expression | None) -> exp.Expression | None:
        return None if expression is None else expression.transform(_bound)

    def _bound(node: exp.Expression) -> exp.Expression:
        is_plain = isinstance(node, exp.Column) and clause is not None
        name = _PSEUDO.get(node.name.lower()) if is_plain else None
        return node if name is None else bound_column(name)

    items: list[SelectItem] = []
    for item in select.items:
        if _is_whole_window(item.expression):
            items += [SelectItem(bound_column(name), None, item.place) for name in (START, END)]
            continue
        name = _PSEUDO.get(item.expression.name.lower()) if clause is not None else None
        alias = item.alias or (None if name is None else item.expression.name)
        alias = alias or _field_name(item.expression)
        shown = of(item.expression)
        assert shown is not None
        items.append(replace(item, expression=shown, alias=alias))
    return replace(select, items=tuple(items), having=of(select.having), where=of(select.where))


def _field_name(node: exp.Expr) -> str | None:
    """Of `window.start` the start, as Spark names it."""
    return node.meta.get("field")


def _is_whole_window(node: exp.Expr) -> bool:
    """`window` itself, or the call once more: its start and its end."""
    if isinstance(node, exp.Column) and not node.table:
        return node.name.lower() in ("window", "session_window")
    return _is_window(node)


def _wrong(
    code: str, message: str, hint: str, select: Select, nodes: Sequence[exp.Expr]
) -> QuerySyntaxError:
    place = place_of(nodes[0], select.text) if nodes else None
    place = place or select.places.get("GROUP BY") or select.places.get("SELECT")
    return QuerySyntaxError(code, message, hint=hint, place=place)
