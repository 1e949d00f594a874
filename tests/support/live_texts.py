"""Hypothesis strategies: selects over one window and joins, DISTINCT or not, and negated inputs.

Every joined row is compared, not only sums of them: those of three windows and more have keys.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from support.join_texts import (
    EQUALITIES,
    RESIDUALS,
    conditions_of,
    equalities_of,
    every_of,
    groups_of,
    join_windows,
    some_of,
)
from support.streams import AGGREGATES, CONDITIONS, moves_in_steps

ITEMS = (
    *("{0}.k", "{0}.k", "{0}.s", "{0}.s", "{0}.d", "{0}.o", "{0}.l", "{0}.p", "{0}.f", "{0}.y"),
    *("{0}.ts", "{0}.k + 1", "{0}.d * 2", "UPPER({0}.s)", "{0}.d IS NULL", "'constant'"),
)
ITEMS_OF_SEVERAL = (
    *("{0}.k + {1}.k", "{0}.d * {1}.d", "{0}.d > {1}.d", "COALESCE({0}.s, {1}.s)", "{0}.p - {1}.p"),
    *("GREATEST({0}.k, {1}.k)", "{0}.d / {1}.k", "CASE WHEN {0}.o THEN {1}.d ELSE {0}.d END"),
    *("{0}.ts < {1}.ts", "{0}.k * {1}.k - {2}.k", "CONCAT({0}.s, {1}.s)", "{0}.f + {1}.d"),
)
OF_THE_MATCH = (*RESIDUALS[:-1], "({0}.o OR {1}.o)", "{0}.l >= {1}.l")
ALWAYS_OR_NEVER = ("1 = 0", "NULL", "TRUE", "2 > 1")


@dataclass(frozen=True)
class Sources:
    """The joined inputs by name, and FROM with their windows."""

    names: list[str]
    text: str


@st.composite
def general_selects(draw: st.DrawFn, most: int = 4) -> str:
    """The text of a select over one window or a join of up to so many."""
    distinct = draw(st.booleans())
    sources = _sources(draw, draw(st.sampled_from([1, 2, 2, 2, 3, 3, 4][: most + 3])), distinct)
    where = _where(draw, sources.names)
    text = f"SELECT {'DISTINCT ' if distinct else ''}{_items(draw, sources.names)} {sources.text}"
    return text + _clause(" WHERE ", where) + every_of(draw, moves_in_steps(sources.text))


@st.composite
def general_negations(draw: st.DrawFn) -> str:
    """The text of a select or an aggregate with one negated input or two."""
    kind = draw(st.sampled_from(["select", "select", "distinct", "aggregate", "groups"]))
    sources = _sources(draw, draw(st.sampled_from([1, 1, 1, 2, 2, 3])), ends=True)
    where, joins, names = _where(draw, sources.names), "", sources.names
    for place in range(draw(st.sampled_from([1, 1, 2]))):
        negated = f"n{place}"
        source = f"{draw(st.sampled_from('abc'))} [{draw(join_windows)}] AS {negated}"
        match = _match(draw, draw(st.sampled_from(names)), negated)
        if draw(st.booleans()):
            joins += f" LEFT ANTI JOIN {source} ON {' AND '.join(match) or 'TRUE'}"
        else:
            shown = draw(st.sampled_from(["1", "*", f"{negated}.k", f"{negated}.*", "l"]))
            inner = f"SELECT {shown} FROM {source}{_clause(' WHERE ', match)}"
            where.insert(draw(st.integers(0, len(where))), f"NOT EXISTS ({inner})")
    shown, tail = _answer(draw, kind, names)
    slides = moves_in_steps(sources.text + joins + "".join(where))
    text = f"SELECT {shown} {sources.text}{joins}{_clause(' WHERE ', where)}{tail}"
    return text + every_of(draw, slides)


def _sources(draw: st.DrawFn, count: int, ends: bool) -> Sources:
    streams = [draw(st.sampled_from("aabbc")) for _ in range(count)]
    names = [
        stream if streams.count(stream) == 1 else f"{stream}{place}"
        for place, stream in enumerate(streams)
    ]
    width = join_windows if count > 1 or ends else join_windows | st.just("UNBOUNDED")
    listed = [
        f"{stream} [{draw(width)}]" + ("" if name == stream else f" AS {name}")
        for stream, name in zip(streams, names, strict=True)
    ]
    return Sources(names, f"FROM {', '.join(listed)}")


def _where(draw: st.DrawFn, names: list[str]) -> list[str]:
    equalities = equalities_of(draw, names)
    if len(names) > 2 and len(equalities) < len(names) - 1:
        equalities = [f"{names[0]}.k = {name}.k" for name in names[1:]]
    return [*equalities, *conditions_of(draw, names, equalities)]


def _match(draw: st.DrawFn, of: str, negated: str) -> list[str]:
    found: list[str] = []
    for _ in range(draw(st.sampled_from([1, 1, 1, 1, 2, 0]))):
        pair = draw(st.permutations([of, negated]))
        found.append(draw(st.sampled_from(EQUALITIES)).format(*pair))
    if draw(st.integers(0, 2)) == 0:
        found.append(some_of(draw, OF_THE_MATCH, [of, negated]))
    found += [
        draw(st.sampled_from(CONDITIONS)).format(name)
        for name in (of, negated)
        if draw(st.integers(0, 4)) == 0
    ]
    if draw(st.integers(0, 9)) == 0:
        found.append(draw(st.sampled_from(ALWAYS_OR_NEVER)))
    return draw(st.permutations(found))


def _answer(draw: st.DrawFn, kind: str, names: list[str]) -> tuple[str, str]:
    """The select list and GROUP BY."""
    if kind in ("select", "distinct"):
        return ("DISTINCT " if kind == "distinct" else "") + _items(draw, names), ""
    groups = groups_of(draw, names, []) if kind == "groups" else []
    made = [
        some_of(draw, (*AGGREGATES, "MAX({0}.d)", "MIN({0}.l)", "COUNT(DISTINCT {0}.s)"), names)
        for _ in range(draw(st.integers(1, 2)))
    ]
    shown = ", ".join(f"{item} AS r{i}" for i, item in enumerate([*groups, *made]))
    return shown, _clause(" GROUP BY ", groups, ", ")


def _items(draw: st.DrawFn, names: list[str]) -> str:
    choices = (*ITEMS, *(ITEMS_OF_SEVERAL if len(names) > 1 else ()))
    items = [some_of(draw, choices, names) for _ in range(draw(st.integers(1, 3)))]
    return ", ".join(f"{item} AS r{i}" for i, item in enumerate(items))


def _clause(word: str, parts: list[str], between: str = " AND ") -> str:
    return word + between.join(parts) if parts else ""
