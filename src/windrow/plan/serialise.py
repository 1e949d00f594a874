"""Plans as JSON and back, never as pickle: only dataclasses named here can come out of a text."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS
from windrow.deferred import deferred
from windrow.errors import CheckpointError
from windrow.plan.expressions import (
    FUNCTIONS,
    AggregateRef,
    Call,
    ColumnRef,
    GroupRef,
    Literal,
    UserCall,
    Variable,
)
from windrow.plan.model import (
    Aggregate,
    Negation,
    OutputColumn,
    PlanInput,
    QueryPlan,
    WindowSpec,
)
from windrow.plan.user_functions import user_functions
from windrow.schema import Column, ColumnType, StreamSchema
from windrow.stream_options import StreamOptions

if TYPE_CHECKING:
    from windrow.plan.relations.shipped_nodes import NODE_NAMES, NODES
    from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
else:
    NODE_NAMES = deferred("windrow.plan.relations.shipped_nodes", "NODE_NAMES")
    NODES = deferred("windrow.plan.relations.shipped_nodes", "NODES")
    TreePlan = deferred("windrow.plan.relations.tree_plan", "TreePlan")

__all__ = ["PLAN_FORMAT", "plan_from_json", "plan_to_json"]

PLAN_FORMAT = 4
_ADDED = frozenset(
    [
        *("on_bad_row", "max_ahead", "bad_rows_into", "options", "parts", "offset_us", "closes"),
        "on_error",
    ]
)
_ANEW = "register the query again from its text"

_CLASSES: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(AggregateRef, Call, ColumnRef, GroupRef, Literal, Variable),
        *(Aggregate, Negation, OutputColumn, PlanInput, QueryPlan, WindowSpec),
        *(Column, ColumnType, StreamSchema, StreamOptions),
    )
}

# What runs, and the instant itself, which is only in the relation as it was written.
_CALLED = FUNCTIONS | {"instant"}
_VALUES: dict[str, Callable[[Any], Any]] = {"Decimal": Decimal, "float": float, "set": frozenset}


def plan_to_json(plan: RunnablePlan) -> str:
    """The plan as text, the same for equal plans."""
    body = {"format": PLAN_FORMAT, "plan": _to_json(plan)}
    return json.dumps(body, sort_keys=True, separators=(",", ":"))


def plan_from_json(text: str) -> RunnablePlan:
    """The plan that plan_to_json made the text of."""
    try:
        body = json.loads(text)
        version = body["format"]
        plan = _from_json(body["plan"]) if version == PLAN_FORMAT else None
    except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError) as error:
        message = f"this text is not a plan: {error}"
        raise CheckpointError("WC201", message, hint=_ANEW) from None
    if version != PLAN_FORMAT:
        raise CheckpointError(
            "WC202",
            f"the plan has format {version!r}, this version reads {PLAN_FORMAT}",
            hint=_ANEW,
        )
    if not isinstance(plan, (QueryPlan, TreePlan)):
        message = "this text is not a plan: it holds something else"
        raise CheckpointError("WC201", message, hint=_ANEW)
    return plan


def _to_json(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_to_json(part) for part in value]
    if isinstance(value, Decimal):
        return {"is": "Decimal", "value": str(value)}
    if isinstance(value, float) and not abs(value) < float("inf"):
        return {"is": "float", "value": repr(value)}  # JSON has no infinity and no NaN
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, frozenset):
        return {"is": "set", "value": sorted(value)}
    if isinstance(value, UserCall):
        # The function itself is in no text: whoever reads it must have been given it again.
        called = _to_json(Call(value.function, value.arguments, value.type))
        return {**called, "is": "UserCall", "signature": value.body.signature}
    parts = {
        field.name: _to_json(getattr(value, field.name))
        for field in fields(value)
        # What was added since plans were first stored is left out where nobody says it.
        if field.name not in _ADDED or getattr(value, field.name) != field.default
    }
    kind = type(value)
    name = kind.__name__ if _CLASSES.get(kind.__name__) is kind else NODE_NAMES[kind]
    return {"is": name, **parts}


def _with_function(parts: dict[str, Any]) -> dict[str, Any]:
    """The parts of a call with the function that this session has under that name."""
    signature = parts.pop("signature")
    given = user_functions().get(parts["function"])
    if given is None or given.signature != signature:
        found = "there is none" if given is None else f"the one given is {given.signature}"
        raise CheckpointError(
            "WC793",
            f"the plan calls the function {signature}, but {found}",
            hint="give the same function again before the query: session.function(...)",
        )
    return {**parts, "body": given}


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_from_json(part) for part in value)
    if not isinstance(value, dict):
        return value
    kind = value["is"]
    if kind in _VALUES:
        return _VALUES[kind](value["value"])
    parts = {name: _from_json(part) for name, part in value.items() if name != "is"}
    if kind == "UserCall":
        return UserCall(**_with_function(parts))
    if kind == "Call" and parts["function"] not in _CALLED:
        raise ValueError(f"there is no function {parts['function']!r}")
    if kind == "Aggregate" and parts["function"] not in AGGREGATE_FUNCTIONS:
        raise ValueError(f"there is no aggregate {parts['function']!r}")
    return (_CLASSES.get(kind) or NODES[kind])(**parts)
