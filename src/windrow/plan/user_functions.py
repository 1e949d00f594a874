"""Functions that users give: what they are called, take and return, and who knows them now.

A plan names such a function and its types; the function itself is no part of its text, so it is in
no checkpoint. While a query is bound, the functions of its session are known.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from windrow.aggregate_functions import SQL_NAMES
from windrow.errors import BindingError, UnsupportedError
from windrow.plan.expressions import FUNCTIONS, Expr, UserCall
from windrow.plan.sql_functions import SqlFunction, can_become
from windrow.plan.types import convert
from windrow.scalar_functions import SCALAR_NAMES
from windrow.schema import ColumnType, type_named
from windrow.sql.functions import WINDOW_FUNCTIONS
from windrow.sql.words import NOT_AN_ALIAS

__all__ = [
    "GivenFunction",
    "UserFunction",
    "bind_user_call",
    "check_function_name",
    "known_functions",
    "user_function",
    "user_functions",
]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_TAKEN = frozenset(
    [
        *(name.lower() for name in (*SQL_NAMES, *WINDOW_FUNCTIONS, *NOT_AN_ALIAS)),
        *SCALAR_NAMES,
        *FUNCTIONS,
        *("cast", "try_cast", "grouping", "grouping_id", "array", "map", "struct", "row"),
    ]
)

Types = str | Sequence[str] | None


@dataclass(frozen=True)
class UserFunction:
    """takes: the types of its arguments; None: any, and any number where `counts` is None.

    is_vectorised: it is called with Arrow arrays, once for many rows; else with values, for each.
    """

    name: str
    returns: ColumnType
    takes: tuple[ColumnType, ...] | None = None
    is_vectorised: bool = False
    counts: tuple[int, int] | None = None
    function: Callable[..., Any] | None = field(default=None, repr=False)

    @property
    def signature(self) -> str:
        """How it is called, for people and for texts of plans."""
        takes = "..." if self.takes is None else ", ".join(map(str, self.takes))
        return f"{self.name}({takes}) RETURNS {self.returns}"


def user_function(
    name: str,
    function: Callable[..., Any],
    returns: str,
    takes: Types = None,
    *,
    is_vectorised: bool = False,
    is_deterministic: bool = True,
) -> UserFunction:
    """The function, checked.

    >>> user_function("twice", lambda x: 2 * x, "bigint", "bigint").signature
    'twice(BIGINT) RETURNS BIGINT'
    """
    given: object = function
    if not callable(given):
        message = f"function {name!r} cannot be {type(function).__name__}"
        raise BindingError("WB755", message, hint="give a function of Python")
    check_function_name(name)
    if not is_deterministic:
        raise UnsupportedError(
            "WU757",
            f"function {name!r} is not deterministic",
            hint="a row that leaves a window is retracted by the value that it came with, and a "
            "replay must find it again: compute such values before the push, as columns",
        )
    if getattr(function, "__hash__", None) is None:
        function = partial(function)  # plans are compared with their functions
    kinds = None if takes is None else tuple(map(type_named, _listed(takes)))
    counts = _counts(function) if kinds is None else (len(kinds), len(kinds))
    shape = (kinds, is_vectorised, counts, function)
    return UserFunction(name.lower(), type_named(returns), *shape)


def _listed(takes: str | Sequence[str]) -> list[str]:
    if not isinstance(takes, str):
        return list(takes)
    return [part for part in re.split(r",(?![^(<]*[)>])", takes) if part.strip()]


def check_function_name(name: str) -> None:
    """Refuses a name that the language has already."""
    if not isinstance(name, str) or not _NAME.match(name):
        raise BindingError(
            "WB755", f"{name!r} is not a name of a function", hint="use letters, digits and _"
        )
    if name.lower() in _TAKEN:
        raise BindingError(
            "WB755",
            f"{name.upper()} is a function or a word of the language already",
            hint=f"choose another name, such as my_{name.lower()}",
        )


def _counts(function: Callable[..., Any]) -> tuple[int, int] | None:
    """How few and how many arguments it takes; None where nobody can say."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    places = [each for each in parameters if each.kind in _BY_PLACE]
    needed = sum(each.default is inspect.Parameter.empty for each in places)
    has_more = any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters)
    return needed, 1_000 if has_more else len(places)


_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

GivenFunction = UserFunction | SqlFunction
_KNOWN: ContextVar[Mapping[str, GivenFunction]] = ContextVar("known", default=MappingProxyType({}))


@contextmanager
def known_functions(functions: Mapping[str, GivenFunction]) -> Iterator[None]:
    """While queries are bound within, these functions can be called."""
    token = _KNOWN.set(functions)
    try:
        yield
    finally:
        _KNOWN.reset(token)


def user_functions() -> Mapping[str, GivenFunction]:
    """The functions that can be called now, by their names."""
    return _KNOWN.get()


def bind_user_call(
    function: UserFunction, arguments: Sequence[Expr], wrong: Callable[[str, str], Exception]
) -> Expr:
    """The call; wrong: the error at its place, of a message and a hint."""
    counts = function.counts
    if counts is not None and not counts[0] <= len(arguments) <= counts[1]:
        wanted = str(counts[0]) if counts[0] == counts[1] else f"{counts[0]} to {counts[1]}"
        message = f"{function.name.upper()} takes {wanted} arguments, but got {len(arguments)}"
        raise wrong(message, f"it was given as {function.signature}")
    if function.takes is not None:
        pairs = list(zip(arguments, function.takes, strict=True))
        for place, (part, kind) in enumerate(pairs):
            if not can_become(part, kind):
                message = f"argument {place + 1} of {function.name.upper()} cannot be {part.type}"
                raise wrong(message, f"it was given as {function.signature}")
        arguments = [convert(part, kind) for part, kind in pairs]
    return UserCall(function.name, tuple(arguments), function.returns, function)
