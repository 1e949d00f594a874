"""Which operator runs a node of the algebra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windrow.operators.relations.aggregate import AggregateOperator
from windrow.operators.relations.answer_window import AnswerWindowOperator
from windrow.operators.relations.as_of_join import AsOfJoinOperator
from windrow.operators.relations.at_most_one import AtMostOneOperator
from windrow.operators.relations.distinct import DistinctOperator
from windrow.operators.relations.filter import FilterOperator
from windrow.operators.relations.join import JoinOperator
from windrow.operators.relations.neighbour_values import is_shifted
from windrow.operators.relations.operator import RelationOperator
from windrow.operators.relations.ordered_rows import has_numbers
from windrow.operators.relations.project import ProjectOperator, ValuesOperator
from windrow.operators.relations.sent import SentOperator
from windrow.operators.relations.set_operations import set_operator
from windrow.operators.relations.top_rows import TopRowsOperator
from windrow.operators.relations.unnest import UnnestOperator
from windrow.operators.relations.valid_rows import ValidRowsOperator
from windrow.operators.relations.window_bounds import WindowBoundsOperator
from windrow.operators.relations.window_functions import WindowFunctionsOperator
from windrow.plan.relations.algebra import (
    Aggregate,
    AnswerWindow,
    AsOfJoin,
    AtMostOne,
    Distinct,
    Filter,
    Join,
    Project,
    Relation,
    SetOperation,
    TopRows,
    Unnest,
    ValidRows,
    Values,
    WindowFunctions,
    walk_relations,
)
from windrow.plan.relations.exchange_algebra import LocalAggregate, LocalTopRows, Sent
from windrow.plan.relations.window_algebra import WindowBounds

__all__ = ["OPERATORS", "operator_of", "read_by_number"]

# Any: an operator is made of its own kind of node.
OPERATORS: dict[type[Relation], Callable[[Any], RelationOperator]] = {
    Filter: FilterOperator,
    Project: ProjectOperator,
    Values: ValuesOperator,
    Join: JoinOperator,
    AsOfJoin: AsOfJoinOperator,
    Aggregate: AggregateOperator,
    TopRows: TopRowsOperator,
    Unnest: UnnestOperator,
    WindowFunctions: WindowFunctionsOperator,
    Distinct: DistinctOperator,
    SetOperation: set_operator,
    AtMostOne: AtMostOneOperator,
    ValidRows: ValidRowsOperator,
    AnswerWindow: AnswerWindowOperator,
    WindowBounds: WindowBoundsOperator,
    LocalAggregate: AggregateOperator,
    LocalTopRows: TopRowsOperator,
    Sent: SentOperator,
}


def operator_of(node: Relation) -> RelationOperator:
    """A new operator for the node, which holds nothing yet."""
    return OPERATORS[type(node)](node)


def read_by_number(relation: Relation) -> frozenset[Relation]:
    """The windows whose rows all operators that read them know by number once they have entered."""
    nodes = list(walk_relations(relation))
    by_number = {part for node in nodes if _knows_numbers(node) for part in node.inputs}
    others = {part for node in nodes if not _knows_numbers(node) for part in node.inputs}
    return frozenset(part for part in by_number - others if has_numbers(part))


def _knows_numbers(node: Relation) -> bool:
    return isinstance(node, TopRows) or (
        isinstance(node, WindowFunctions) and all(map(is_shifted, node.calls))
    )
