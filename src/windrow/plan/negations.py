"""Negated inputs: LEFT ANTI JOIN and NOT EXISTS taken apart into what a match is.

A condition on the negated input alone filters it; an equality with the input that it keeps out is a
key. Everything else decides on each pair of rows, also a condition that reads the kept input alone:
a row that fails it has no match, and stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from windrow.errors import UnsupportedError
from windrow.plan.catalog import Catalog
from windrow.plan.conditions import conjuncts, equality
from windrow.plan.equalities import join_variables
from windrow.plan.expressions import Expr, inputs_of
from windrow.plan.model import Negation, PlanInput
from windrow.plan.names import NamedInput, Names
from windrow.plan.outputs import is_star
from windrow.plan.refusals import refusal
from windrow.plan.rows import row_scope
from windrow.plan.scope import Scope
from windrow.plan.types import all_of
from windrow.plan.windows import bind_window
from windrow.sql.statements import Select, Source

__all__ = ["Negated", "bind_negated", "negated_inputs"]


@dataclass(frozen=True)
class Negated:
    """A negated input, the condition of a match, and the names that it can use."""

    source: Source
    entry: NamedInput
    clause: str
    condition: exp.Expr | None
    names: Names


def negated_inputs(select: Select, joined: Names, catalog: Catalog) -> tuple[Negated, ...]:
    """The negated inputs in order of the text, which is the order of their positions."""
    found: list[Negated] = []
    for source, inner in _sources(select):
        stream = catalog.stream(source.stream, source.place)
        entry = NamedInput(source.alias, stream, len(joined.inputs) + len(found))
        if inner is None:
            names = Names(select.text, (*joined.inputs, entry))
            found.append(Negated(source, entry, "ON", source.on, names))
        else:
            names = Names(select.text, (entry,), outer=joined)
            found.append(Negated(source, entry, "WHERE", inner.where, names))
            _check_items(inner, names)
    return tuple(found)


def _sources(select: Select) -> Iterator[tuple[Source, Select | None]]:
    """Every negated source, with the query that NOT EXISTS has around it."""
    for source in select.sources:
        if source.join == "anti":
            yield source, None
    for inner in select.not_exists:
        if len(inner.sources) > 1:
            raise refusal(
                "WU224",
                "NOT EXISTS over several streams",
                inner.sources[1].place,
                "write one NOT EXISTS for each stream",
            )
        yield inner.sources[0], inner


def _check_items(inner: Select, names: Names) -> None:
    """What NOT EXISTS selects does not matter, but must be there."""
    scope = row_scope(names, "NOT EXISTS")
    for item in inner.items:
        if not is_star(item.expression):
            scope.bind(item.expression)
        elif isinstance(item.expression, exp.Column):
            names.entries(item.expression)


def bind_negated(negated: Negated, alias: str) -> tuple[PlanInput, Negation]:
    """The input under that name, and which rows of which other input it keeps out."""
    match = _Match(negated)
    for node in conjuncts(negated.condition) if negated.condition is not None else ():
        match.add(node)
    entry, pairs = negated.entry, dict.fromkeys(match.pairs)
    plan_input = PlanInput(
        entry.stream,
        alias,
        bind_window(negated.source.window, entry.stream, entry.input_index),
        all_of(match.filters),
    )
    return plan_input, Negation(
        entry.input_index,
        0 if match.of is None else match.of,
        tuple(own for own, _ in pairs),
        tuple(other for _, other in pairs),
        all_of(match.residual),
    )


class _Match:
    """The conditions of one negation, sorted as they come; of: the other input that they read."""

    def __init__(self, negated: Negated) -> None:
        self.of: int | None = None
        self.filters: list[Expr] = []
        self.pairs: list[tuple[Expr, Expr]] = []
        self.residual: list[Expr] = []
        self._negated = negated
        self._scope: Scope = row_scope(negated.names, negated.clause)

    def add(self, node: exp.Expr) -> None:
        """Sort one condition in."""
        bound = self._scope.condition(node, self._negated.clause)
        own = self._negated.entry.input_index
        others = inputs_of(bound) - {own}
        if not others:
            # One that reads nothing, such as 1 = 0, is true or false for every match.
            self.filters.append(bound)
            return
        self._check_one(node, others)
        pair = equality(bound)
        if pair is None:
            self.residual.append(bound)
            return
        (variable,) = join_variables([pair])
        left, right = variable.members
        self.pairs.append((left, right) if inputs_of(left) == {own} else (right, left))

    def _check_one(self, node: exp.Expr, others: frozenset[int]) -> None:
        read = others if self.of is None else others | {self.of}
        if len(read) == 1:
            (self.of,) = read
            return
        names = {entry.input_index: entry.alias for entry in self._joined()}
        listed = " and ".join(names[input_index] for input_index in sorted(read))
        raise _of_several(self._scope, node, self._negated.source.alias, listed)

    def _joined(self) -> tuple[NamedInput, ...]:
        names = self._negated.names
        return names.inputs if names.outer is None else names.outer.inputs


def _of_several(scope: Scope, node: exp.Expr, alias: str, listed: str) -> UnsupportedError:
    return scope.refused(
        "WU223",
        f"a negated input compared with several others ({alias} with {listed})",
        node,
        hint="compare it with one of them: of columns that the join makes equal, either works",
    )
