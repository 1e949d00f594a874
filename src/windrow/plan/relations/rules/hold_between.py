"""Conditions on the instant become times from which and until which rows hold.

Until so long after a stream's own time is what a window of that length means: then nothing needs to
be remembered but the window.
"""

from __future__ import annotations

from dataclasses import replace

from windrow.plan.expressions import ColumnRef, Expr
from windrow.plan.model import WindowSpec
from windrow.plan.relations.algebra import Filter, Relation, Scan, ValidRows
from windrow.plan.relations.instants import Bounds, bounds_of, reads_instant, span_after
from windrow.plan.relations.references import conjuncts_of
from windrow.plan.types import all_of
from windrow.window_kinds import TIME

__all__ = ["hold_between"]


def hold_between(relation: Relation) -> Relation:
    """The relation without conditions on the instant."""
    if relation.inputs:
        relation = relation.with_inputs(*(hold_between(part) for part in relation.inputs))
    if not isinstance(relation, Filter) or not reads_instant(relation.condition):
        return relation
    conditions = conjuncts_of(relation.condition)
    plain = all_of([each for each in conditions if not reads_instant(each)])
    inner = relation.input
    since: list[Expr] = []
    until: list[Expr] = []
    for each in conditions:
        bounds = bounds_of(each) if reads_instant(each) else Bounds()
        assert bounds is not None, "binding lets no other condition pass"
        since += bounds.since
        until += bounds.until
    inner, rest = _narrowed(inner, list(dict.fromkeys(until)))
    held = inner if plain is None else Filter(inner, plain)
    if not since and not rest:
        return held
    return ValidRows(held, tuple(dict.fromkeys(since)), tuple(rest))


def _narrowed(relation: Relation, until: list[Expr]) -> tuple[Relation, list[Expr]]:
    """A window as long as its rows hold, and the bounds that say something else."""
    if not isinstance(relation, Scan) or not _reaches_back(relation.window):
        return relation, until
    time = dict(zip(relation.columns, relation.given, strict=True)).get(relation.stream.time)
    rest = []
    for bound in until:
        moment, span_us = span_after(bound)
        is_own = isinstance(moment, ColumnRef) and time is not None and moment.column == time.id
        if is_own and span_us > 0:
            relation = replace(relation, window=_shorter(relation.window, span_us - 1))
        else:
            rest.append(bound)
    return relation, rest


def _reaches_back(window: WindowSpec) -> bool:
    return window.kind == TIME.name or window.traits.is_endless


def _shorter(window: WindowSpec, length_us: int) -> WindowSpec:
    if window.kind == TIME.name:
        length_us = min(length_us, window.length_us)
    return WindowSpec(TIME.name, length_us)
