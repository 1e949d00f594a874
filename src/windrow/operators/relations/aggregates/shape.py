"""What the calls of an aggregate need: numbers to sum, different values, extremes, each once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from windrow.aggregate_functions import COUNT, AggregateFunction, Form
from windrow.exact.kernels import DOUBLE, INTEGER
from windrow.operators.relations.aggregates.ordered.ordered_shape import (
    ORDERED_FORMS,
    OrderedKind,
    ordered_call,
)
from windrow.operators.relations.aggregates.ordered.ordered_values import Pick
from windrow.operators.relations.aggregates.power_values import POWER_FORMS, power_parts
from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.model import Aggregate
from windrow.plan.relations.aggregate_calls import PARTS_BEFORE_KEYS
from windrow.plan.relations.algebra import AggregateCall
from windrow.schema import DOUBLE as DOUBLE_TYPE
from windrow.windows.wide_decimals import is_wide_decimal

__all__ = [
    "ALL_ROWS",
    "AggregateShape",
    "Collected",
    "Extreme",
    "Measure",
    "Reading",
    "shape_of_calls",
]

Found = TypeVar("Found")
ALL_ROWS = 0
# What is read off counts of bits, in the order in which they are given.
BIT_FORMULAS = ("all", "some", "odd")


@dataclass(frozen=True)
class Measure:
    """A number that is summed exactly, with the count of those that are there.

    kind: INTEGER or DOUBLE. arguments: a number; or several values, or one that is not summed:
    then only whether all are there counts (is_counted). weights: ALL_ROWS, or 1 + the number of
    the distinct whose different values count once. from_bit: of a decimal of two words, at which
    bit the part of it begins that is summed here.
    """

    kind: int
    arguments: tuple[Expr, ...]
    weights: int = ALL_ROWS
    is_counted: bool = False
    from_bit: int | None = None


@dataclass(frozen=True)
class Extreme:
    """The largest or smallest value of the argument."""

    argument: Expr
    is_max: bool


@dataclass(frozen=True)
class Ordered:
    """Rows of groups in an order, and which of them are picked."""

    kind: OrderedKind
    picks: tuple[Pick, ...]


@dataclass(frozen=True)
class Collected:
    """All values of a call in order: its first argument, by the keys among the others."""

    call: AggregateCall

    @property
    def read(self) -> tuple[Expr, ...]:
        """The value, then the keys."""
        return (self.call.arguments[0], *self.call.arguments[PARTS_BEFORE_KEYS:])

    def text(self, place: int) -> str:
        """The constant text that stands there."""
        literal = self.call.arguments[place]
        assert isinstance(literal, Literal)
        return str(literal.value)


@dataclass(frozen=True)
class Reading:
    """How the value of a call is read off a state: as that aggregate, from these measures.

    Of a spread there are three: values, squares, what the squares were rounded by. Of an extreme
    it is the number of the extreme; of ordered rows, the number of the order and of the pick; of
    what is collected, it counts from -1 downwards.
    """

    aggregate: Aggregate
    form: Form
    indexes: tuple[int, ...] = ()


@dataclass(frozen=True)
class AggregateShape:
    """distincts: the arguments whose different values are counted, group by group.

    ordered: rows in an order, of which some are picked. bits: integers whose bits are counted.
    """

    measures: tuple[Measure, ...]
    distincts: tuple[tuple[Expr, ...], ...]
    extremes: tuple[Extreme, ...]
    readings: tuple[Reading, ...]
    ordered: tuple[Ordered, ...] = ()
    collected: tuple[Collected, ...] = ()
    bits: tuple[Expr, ...] = ()


def shape_of_calls(calls: tuple[AggregateCall, ...]) -> AggregateShape:
    """The shape of the calls of one aggregate."""
    work = _Work()
    readings = tuple(work.reading(call) for call in calls)
    return AggregateShape(
        tuple(work.measures),
        tuple(work.distincts),
        tuple(work.extremes),
        readings,
        tuple(Ordered(kind, tuple(picks)) for kind, picks in work.ordered.items()),
        tuple(work.collected),
        tuple(work.bits),
    )


class _Work:
    """Collects what calls need, each once."""

    def __init__(self) -> None:
        self.measures: list[Measure] = []
        self.distincts: list[tuple[Expr, ...]] = []
        self.extremes: list[Extreme] = []
        self.ordered: dict[OrderedKind, list[Pick]] = {}
        self.bits: list[Expr] = []
        self.collected: list[Collected] = []

    def reading(self, call: AggregateCall) -> Reading:
        """How the call is read, once what it needs is kept."""
        argument = call.arguments[0] if call.arguments else None
        aggregate = Aggregate(call.function, argument, 0, call.field.type)
        function = aggregate.traits
        if function.form is Form.BITS:
            which = BIT_FORMULAS.index(function.formula)
            return Reading(aggregate, Form.BITS, (_place(self.bits, call.arguments[0]), which))
        if function.form in POWER_FORMS:
            parts = power_parts(function, call.arguments)
            places = (_place(self.measures, Measure(DOUBLE, (part,))) for part in parts)
            return Reading(aggregate, function.form, tuple(places))
        if function.form in ORDERED_FORMS:
            return Reading(aggregate, function.form, self._picked(function, call))
        if function.form is Form.COLLECTED:
            place = _place(self.collected, Collected(call))
            return Reading(aggregate, Form.COLLECTED, (-1 - place,))
        measured = aggregate.measured
        if function.form is Form.ROWS or measured is None:
            return Reading(aggregate, Form.ROWS)
        if function.form is Form.EXTREME:
            # The best of all values is the best of the different ones.
            extreme = Extreme(measured, function.is_greatest)
            return Reading(aggregate, Form.EXTREME, (_place(self.extremes, extreme),))
        arguments = (measured, *call.arguments[1:])
        weights = ALL_ROWS
        if call.is_distinct or function.form is Form.DISTINCT:
            weights = 1 + _place(self.distincts, arguments)
        if function.form in (Form.COUNT, Form.DISTINCT):
            counted = Aggregate(COUNT.name, argument, 0, call.field.type)
            return Reading(counted, Form.COUNT, self._counted(arguments, weights))
        return Reading(aggregate, function.form, self._summed(function, measured, weights))

    def _picked(self, function: AggregateFunction, call: AggregateCall) -> tuple[int, ...]:
        kind, pick = ordered_call(function, call)
        picks = self.ordered.setdefault(kind, [])
        return list(self.ordered).index(kind), _place(picks, pick)

    def _counted(self, arguments: tuple[Expr, ...], weights: int) -> tuple[int, ...]:
        is_summed = len(arguments) == 1 and _is_word(arguments[0])
        summed = Measure(_kind(arguments[0]), arguments, weights)
        if is_summed and summed in self.measures:
            return (self.measures.index(summed),)
        counted = Measure(INTEGER, arguments, weights, is_counted=True)
        return (_place(self.measures, counted),)

    def _summed(self, function: AggregateFunction, argument: Expr, weights: int) -> tuple[int, ...]:
        if function.form is Form.SPREAD:
            found = [Measure(DOUBLE, (part,), weights) for part in _squares(argument)]
        elif function.form not in (Form.SUM, Form.MEAN):
            raise AssertionError(f"{function.name} does not run over relations")
        elif _is_word(argument):
            found = [Measure(_kind(argument), (argument,), weights)]
        else:
            parts = (0, 32, 64)
            found = [Measure(INTEGER, (argument,), weights, from_bit=bit) for bit in parts]
        return tuple(_place(self.measures, each) for each in found)


def _squares(argument: Expr) -> list[Expr]:
    """The value, its square, and what the square was rounded by."""
    if argument.type != DOUBLE_TYPE:
        argument = Call("cast", (argument,), DOUBLE_TYPE)
    parts: list[Expr] = [argument]
    return parts + [
        Call(function, (argument,), DOUBLE_TYPE) for function in ("square", "square_error")
    ]


def _is_word(argument: Expr) -> bool:
    kind = argument.type
    return kind.is_numeric and not is_wide_decimal(kind.arrow)


def _kind(argument: Expr) -> int:
    return DOUBLE if argument.type.is_float else INTEGER


def _place(known: list[Found], found: Found) -> int:
    if found not in known:
        known.append(found)
    return known.index(found)
