"""The text of a plan on its way to workers, with the functions that it calls beside it.

The text itself has only their names and types. Spark's own serialisation of closures takes the
functions along; nothing of them is in a checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from windrow.plan.expressions import UserCall
from windrow.plan.serialise import plan_from_json, plan_to_json
from windrow.plan.user_functions import UserFunction, known_functions
from windrow.schema import StreamSchema

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["ShippedPlan", "functions_in", "plan_shipped", "shipped"]


class ShippedPlan(str):
    """A text of a plan; equal to itself only, by its nonce: workers keep plans by their texts."""

    __slots__ = ("functions", "nonce")
    functions: tuple[UserFunction, ...]
    nonce: bytes

    def __new__(cls, text: str, functions: tuple[UserFunction, ...], nonce: bytes) -> ShippedPlan:
        """The text, and what is beside it."""
        made = super().__new__(cls, text)
        made.functions, made.nonce = functions, nonce
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return ShippedPlan, (str(self), self.functions, self.nonce)

    def __eq__(self, other: object) -> bool:
        own = getattr(other, "nonce", b"")
        return own == self.nonce and str.__eq__(self, other)

    def __hash__(self) -> int:
        return hash((str(self), self.nonce))


def shipped(plan: RunnablePlan, nonce: bytes) -> str:
    """The text of a plan, with the functions that it calls; nonce: of this run of the query."""
    functions = functions_in(plan)
    text = plan_to_json(plan)
    return ShippedPlan(text, functions, nonce) if functions else text


def plan_shipped(text: str) -> RunnablePlan:
    """The plan that the text describes, with the functions that came with it."""
    functions = getattr(text, "functions", ())
    with known_functions({each.name: each for each in functions}):
        return plan_from_json(str(text))


def functions_in(plan: RunnablePlan) -> tuple[UserFunction, ...]:
    """The functions of users that a plan calls, each once."""
    return tuple({call.function: call.body for call in _calls(plan)}.values())


def _calls(part: Any) -> Iterator[UserCall]:
    """All calls of functions of users in a part of a plan."""
    if isinstance(part, UserCall):
        yield part
    if isinstance(part, tuple):
        for each in part:
            yield from _calls(each)
    elif is_dataclass(part) and not isinstance(part, (UserFunction, StreamSchema)):
        for each in fields(part):
            yield from _calls(getattr(part, each.name))
