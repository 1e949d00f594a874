"""Hypothesis strategies: every aggregate over one window and over joins of two to four.

Joined rows multiply, so scenarios are small; but rows that never meet test nothing, so they come
close together and most have one of few keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import pairwise

from hypothesis import strategies as st

from support.streams import (
    AGGREGATES,
    AROUND,
    CLOSING_WINDOWS,
    CONDITIONS,
    COUNTED,
    EVERY,
    GROUPS,
    HAVINGS,
    ROWS,
    SLIDES,
    SPANS,
    STARTS_US,
    TICK_US,
    Action,
    Heartbeat,
    Push,
    instant,
    jitters,
    judged_alike,
    moves_in_steps,
)

Values = Mapping[str, st.SearchStrategy[dict[str, object]]]

FEW = {
    "k": st.sampled_from([0, 0, 0, 0, 0, 1, 1, None]),
    "l": st.sampled_from([0, 0, 0, 0, 1, 2]),
    "s": st.sampled_from(["x", "x", "x", "x", "x", "y", "y", None]),
    "d": st.sampled_from([0.0, -0.0, 0.5, 0.5, 0.5, 3.0, None]),
    "o": st.sampled_from([True, True, True, False]),
    "y": st.sampled_from([date(1970, 1, 1), date(1970, 1, 1), date(2024, 2, 29)]),
    "p": st.sampled_from([Decimal("0.5"), Decimal("0.5"), Decimal("1.0"), None]),
    "f": st.sampled_from([0.0, 1.5, 1.5, 1.5, None]),
}
FEWEST = st.fixed_dictionaries(FEW)
# A row of few keys, and of any values where it has others, which are summed beside them.
MEETING: Values = {
    stream: st.one_of(
        st.builds(lambda row, few: row | few, row, st.fixed_dictionaries({}, optional=FEW)),
        *(FEWEST, FEWEST, FEWEST),
    )
    for stream, row in ROWS.items()
}
# Numbers so small that nothing is rounded or overflows, in whatever order it is computed.
TAME: Values = dict.fromkeys(ROWS, FEWEST)
short_steps = st.sampled_from([0, 0, 0, 0, 0, 0, 1, 1, 2, 4])
rare_shifts = st.sampled_from([*(0,) * 10, -1, -3])


@st.composite
def small_scenarios(draw: st.DrawFn, values: Values = MEETING) -> list[Action]:
    """Pushes to all three streams in turn; few rows, but most of them meet."""
    now_us = draw(st.sampled_from(STARTS_US))
    actions: list[Action] = []
    for stream in draw(st.permutations("abc")) * draw(st.integers(1, 4)):
        rows = []
        for _ in range(draw(st.sampled_from([2, 2, 1, 3, 3, 0]))):
            now_us += draw(short_steps) * TICK_US
            time_us = now_us + draw(rare_shifts) * TICK_US + draw(jitters)
            rows.append({"ts": instant(time_us), **draw(values[stream])})
        actions.append(Push(stream, tuple(rows)))
        if draw(st.integers(0, 5)) == 0:
            actions.append(Heartbeat(draw(st.sampled_from("abc")), now_us))
    return judged_alike(actions)


join_windows = st.sampled_from([*SPANS[:4], *SPANS[1:4], *SLIDES, *CLOSING_WINDOWS, *COUNTED])

EQUALITIES = (
    *(4 * ("{0}.k = {1}.k", "{0}.s = {1}.s", "{0}.o = {1}.o", "{0}.l = {1}.l")),
    *("{0}.d = {1}.d", "{0}.p = {1}.p", "{0}.y = {1}.y", "{0}.f = {1}.f", "{0}.ts = {1}.ts"),
    *("{0}.k = {1}.l", "{0}.l = {1}.k", "{0}.k = {1}.d", "{0}.y = {1}.ts"),
    *("{0}.k % 2 = {1}.k % 2", "LENGTH({0}.s) = {1}.k"),
)
RESIDUALS = (
    *("{0}.d > {1}.d", "{0}.ts < {1}.ts", "{0}.k + {1}.k = 2", "({0}.o OR {1}.d > 0)"),
    *("{0}.l <> {1}.k", "{0}.s <= {1}.s", "({0}.s = {1}.s OR {0}.k = {1}.k)", "{0}.p >= {1}.p"),
    *("COALESCE({0}.k, {1}.k) = 1", "({0}.d IS NULL OR {1}.o)", "{0}.d * {1}.d < 1"),
    "{0}.k + {1}.k >= {2}.k",
)
OF_ONE = (
    *("MIN({0}.d)", "MAX({0}.d)", "MIN({0}.l)", "MAX({0}.k)", "MIN({0}.p)", "MAX({0}.f)"),
    *("MIN({0}.k + 1)", "MAX({0}.d * {0}.k)", "COUNT(DISTINCT {0}.s)", "COUNT(DISTINCT {0}.d)"),
    *("COUNT(DISTINCT {0}.k)", "COUNT(DISTINCT {0}.p)", "COUNT(DISTINCT {0}.ts)"),
    *("COUNT_IF({0}.d > 0)", "COUNT_IF(NOT {0}.o)"),
    *("STDDEV({0}.k)", "VARIANCE({0}.d)", "VAR_POP({0}.d)", "STDDEV_POP({0}.f)", "VAR_SAMP({0}.p)"),
)
OF_SEVERAL = (
    *("SUM({0}.d * {1}.d)", "SUM({0}.k + {1}.l)", "AVG({0}.k * {1}.k)", "SUM({0}.l * {1}.l)"),
    *("SUM({0}.p * {1}.k)", "SUM({0}.p - {1}.p)", "AVG({0}.p + {1}.p)", "AVG({0}.d + {1}.d)"),
    *("SUM({0}.d * {1}.k - {0}.k * {1}.d)", "SUM(2 * {0}.k * {1}.k - 1)", "SUM(-{0}.f * {1}.f)"),
    *("SUM({0}.k * {1}.k * {2}.k)", "SUM({0}.d + {1}.d - {2}.d)", "SUM({0}.d / {1}.k)"),
    *("SUM(ABS({0}.d - {1}.d))", "AVG(ABS({0}.k - {1}.k))", "COUNT({0}.d + {1}.d)"),
    *("MIN({0}.d + {1}.d)", "MAX({0}.k * {1}.l)", "MIN({0}.p - {1}.p)", "MAX({0}.d - {2}.d)"),
    *("COUNT(DISTINCT {0}.k + {1}.k)", "STDDEV({0}.k - {1}.k)", "VAR_POP({0}.d * {1}.d)"),
    *("COUNT_IF({0}.d > {1}.d)", "COUNT_IF({0}.o AND {1}.k > {2}.k)"),
    *("MAX(GREATEST({0}.d, {1}.d))", "MIN(CASE WHEN {0}.o THEN {1}.d ELSE {0}.d END)"),
)
# No numbers: nothing can be written around them.
OTHERS = (
    *("MIN({0}.ts)", "MAX({0}.y)", "MAX({0}.o)", "MIN({0}.o)", "MAX({0}.ts)"),
    *("BOOL_AND({0}.o)", "BOOL_OR({0}.o)", "BOOL_AND({0}.d > {1}.d)", "BOOL_OR({0}.k = {1}.l)"),
    "MIN(CASE WHEN {0}.ts < {1}.ts THEN {0}.ts ELSE {1}.ts END)",
)
GROUPS_OF_SEVERAL = (
    *("{0}.k + {1}.k", "{0}.d > {1}.d", "COALESCE({0}.s, {1}.s)", "{0}.d * {1}.d"),
    *("GREATEST({0}.k, {1}.k)", "{0}.p - {1}.p"),
)
SHAPES = ("star", "chain", "chain", "tree", "cycle", "loose", "none")


@dataclass(frozen=True)
class GeneralJoin:
    """A query in parts, so that its equalities can be written in another way."""

    head: str
    equalities: tuple[str, ...]
    conditions: tuple[str, ...]
    tail: str

    @property
    def text(self) -> str:
        """The query as one writes it."""
        return self._with(list(self.equalities))

    @property
    def as_residuals(self) -> str:
        """The same query, every equality hidden in a form that is no equality."""
        sides = (equality.split(" = ") for equality in self.equalities)
        return self._with([f"NOT ({left} <> {right})" for left, right in sides])

    def _with(self, equalities: list[str]) -> str:
        where = [*equalities, *self.conditions]
        return self.head + (f" WHERE {' AND '.join(where)}" if where else "") + self.tail


def general_joins(most: int = 4) -> st.SearchStrategy[str]:
    """The text of an aggregate over a join of two windows or more."""
    return parted_joins(2, most).map(lambda parted: parted.text)


def general_singles() -> st.SearchStrategy[str]:
    """The text of any aggregate over one window."""
    return parted_joins(1, 1).map(lambda parted: parted.text)


@st.composite
def parted_joins(draw: st.DrawFn, least: int = 2, most: int = 4) -> GeneralJoin:
    """An aggregate over a join of windows: star, chain, tree, cycle, loose, or without equality."""
    streams = draw(st.lists(st.sampled_from("aabbc"), min_size=least, max_size=most))
    names = [
        stream if streams.count(stream) == 1 else f"{stream}{place}"
        for place, stream in enumerate(streams)
    ]
    width = join_windows if len(names) > 1 else join_windows | st.just("UNBOUNDED")
    sources = [
        f"{stream} [{draw(width)}]" + ("" if name == stream else f" AS {name}")
        for stream, name in zip(streams, names, strict=True)
    ]
    equalities = equalities_of(draw, names)
    groups = groups_of(draw, names, equalities)
    items = [_item(draw, names) for _ in range(draw(st.integers(1, 3)))]
    shown = ", ".join(f"{item} AS r{i}" for i, item in enumerate([*groups, *items]))
    tail = f" GROUP BY {', '.join(groups)}" if groups else ""
    return GeneralJoin(
        f"SELECT {shown} FROM {', '.join(sources)}",
        tuple(equalities),
        tuple(conditions_of(draw, names, equalities)),
        tail + _having(draw, names) + every_of(draw, any(map(moves_in_steps, sources))),
    )


def equalities_of(draw: st.DrawFn, names: list[str]) -> list[str]:
    """Equalities that tie the inputs in one of the shapes."""
    shape = draw(st.sampled_from(SHAPES))
    if shape == "star":
        column = draw(st.sampled_from(["k", "k", "k", "s", "o", "l", "d", "f"]))
        return [f"{names[0]}.{column} = {name}.{column}" for name in names[1:]]
    edges: list[tuple[str, str]] = []
    if shape in ("chain", "cycle"):
        edges = list(pairwise(names))
    elif shape in ("tree", "loose"):
        edges = [(draw(st.sampled_from(names[:i])), names[i]) for i in range(1, len(names))]
    if shape == "cycle":
        edges.append((names[-1], names[0]))
    if shape == "loose":
        edges = edges[1:]
    found = [draw(st.sampled_from(EQUALITIES)).format(*edge) for edge in edges]
    if edges and draw(st.integers(0, 5)) == 0:
        found.append(draw(st.sampled_from(EQUALITIES)).format(*draw(st.sampled_from(edges))))
    return list(dict.fromkeys(found))


def some_of(draw: st.DrawFn, choices: tuple[str, ...], names: list[str]) -> str:
    """One of the forms, over different inputs as far as there are so many."""
    order = draw(st.permutations(names))
    return draw(st.sampled_from(choices)).format(*order, *order, *order)


def groups_of(draw: st.DrawFn, names: list[str], equalities: list[str]) -> list[str]:
    """Expressions to group by."""
    kind = draw(st.sampled_from(["none", "key", "one", "one", "both", "several"]))
    if kind == "none":
        return []
    if kind == "key" and equalities:
        chosen = draw(st.lists(st.sampled_from(equalities), min_size=1, max_size=2, unique=True))
        return list(dict.fromkeys(draw(st.sampled_from(each.split(" = "))) for each in chosen))
    if kind == "both" and len(names) > 1:
        pair = draw(st.permutations(names))[:2]
        return [draw(st.sampled_from(GROUPS)).format(name) for name in pair]
    groups = [some_of(draw, GROUPS_OF_SEVERAL if kind == "several" else GROUPS, names)]
    if draw(st.integers(0, 3)) == 0:
        groups.append(draw(st.sampled_from([f"{names[0]}.s", f"{names[-1]}.k", "'constant'"])))
    return list(dict.fromkeys(groups))


def _item(draw: st.DrawFn, names: list[str]) -> str:
    kind = draw(st.sampled_from([AGGREGATES, OF_ONE, OF_ONE, OF_SEVERAL, OF_SEVERAL, OTHERS]))
    found = some_of(draw, kind, names)
    return found if kind is OTHERS else draw(st.sampled_from(AROUND)).format(found)


def conditions_of(draw: st.DrawFn, names: list[str], equalities: list[str]) -> list[str]:
    """Conditions on single inputs, and one that compares them."""
    found = [
        draw(st.sampled_from(CONDITIONS)).format(name)
        for name in names
        if draw(st.integers(0, 7)) == 0
    ]
    # Without equalities a residual is the rule, but all pairs are a join, too.
    if draw(st.integers(0, 2 if equalities else 4)) < (1 if equalities else 4):
        found.append(some_of(draw, RESIDUALS, names))
    return found


def _having(draw: st.DrawFn, names: list[str]) -> str:
    if draw(st.integers(0, 2)):
        return ""
    wanted = draw(st.sampled_from(["SUM({0}.k)", "MAX({0}.d)", "COUNT(DISTINCT {0}.s)"]))
    return f" HAVING {draw(st.sampled_from(HAVINGS)).format(wanted.format(names[0]))}"


def every_of(draw: st.DrawFn, slides: bool) -> str:
    """EVERY, or nothing."""
    every = draw(st.sampled_from(EVERY))
    if every is None:
        return ""
    # EVERY must not be finer than the step of a window.
    return f" EVERY ({'3 SECONDS' if slides else every})"
