"""The bound plan of a question about the past: typed, frozen, and silent about how it runs."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, AggregateFunction
from windrow.plan.expressions import AggregateRef, Expr, walk
from windrow.plan.history_schema import HistorySchema
from windrow.plan.model import OutputColumn
from windrow.schema import ColumnType

__all__ = ["BOUND_ENDINGS", "FACTS", "HistoryAggregate", "HistoryPlan", "has_aggregate"]

# An aggregate item has a lower and an upper bound under its name with these endings.
BOUND_ENDINGS = ("_low", "_high")
# What every row of an answer says of itself, behind the bounds.
FACTS = (
    *("exact", "exact_from", "exact_to", "around_from", "around_to"),
    *("known_from", "known_to"),
)


@dataclass(frozen=True)
class HistoryAggregate:
    """A function of a measure, by the names that histories have for them.

    function: the name of one of AGGREGATE_FUNCTIONS that a history keeps. measure: None for
    COUNT(*). rank: that of a quantile.
    """

    function: str
    measure: str | None
    type: ColumnType
    rank: float | None = None

    @property
    def traits(self) -> AggregateFunction:
        """What is known of its function."""
        return AGGREGATE_FUNCTIONS[self.function]


@dataclass(frozen=True)
class HistoryPlan:
    """What is asked of a history.

    until_us is None for NOW. at_us: the granularity of the finest level to look at; None: rows
    too. `where` and `group_by` read keys (ColumnRef); `select` and `having` read GroupRef and
    AggregateRef. every_us: of a continuous query, the time between two answers; None: there is one
    at every arrival.
    """

    text: str
    history: HistorySchema
    since_us: int
    until_us: int | None
    at_us: int | None
    select: tuple[OutputColumn, ...]
    group_by: tuple[Expr, ...] = ()
    aggregates: tuple[HistoryAggregate, ...] = ()
    where: Expr | None = None
    having: Expr | None = None
    every_us: int | None = None

    @property
    def streams(self) -> tuple[str, ...]:
        """The stream whose past is queried."""
        return (self.history.stream.name,)

    @property
    def is_total(self) -> bool:
        """Whether all groups are queried as one."""
        return not self.group_by and self.where is None


def has_aggregate(expression: Expr) -> bool:
    """Whether the expression reads any aggregate."""
    return any(isinstance(part, AggregateRef) for part in walk(expression))
