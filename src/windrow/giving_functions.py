"""What sessions in process and on Spark have in common about functions that users give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any

from windrow.errors import BindingError
from windrow.plan.user_functions import GivenFunction, known_functions, user_function

__all__ = ["GivingFunctions"]


class GivingFunctions:
    """The functions of one session, by their names."""

    _functions: Mapping[str, GivenFunction] = MappingProxyType({})

    def function(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        returns: str,
        takes: str | Sequence[str] | None = None,
        vectorised: bool = False,
        deterministic: bool = True,
    ) -> None:
        """Give a function of Python a name under which queries can call it.

        returns: its type; what it returns is converted to that, and None is NULL. takes: the types
        of its arguments, to which these are converted; without it they come as they are. NULL comes
        in as None. vectorised: it is called with Arrow arrays, once for many rows, and returns one
        value for each. A row for which it raises is an error in a value. It must return the same
        for the same arguments, always: deterministic=False is refused. On Spark it goes to the
        workers with its query, as any closure does; a checkpoint has its name and types only.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> session.function("twice", lambda x: None if x is None else 2 * x, returns="bigint")
        >>> query = session.query("SELECT SUM(twice(x)) AS n FROM s [10 SECONDS]")
        >>> session.push("s", {"ts": ["2026-01-01", "2026-01-01"], "x": [1, 2]})
        >>> session.finish()
        >>> query.result().to_pylist()
        [{'n': 6}]
        """
        made = user_function(
            name,
            function,
            returns,
            takes,
            is_vectorised=vectorised,
            is_deterministic=deterministic,
        )
        self.add_function(made)

    def add_function(self, made: GivenFunction) -> None:
        """Adds a function that is made already, such as one of a script."""
        if made.name in self._functions:
            message = f"a function {made.name!r} exists already"
            raise BindingError("WB755", message, hint="choose another name")
        self._functions = {**self._functions, made.name: made}

    def _knowing_functions(self) -> AbstractContextManager[None]:
        """While queries are bound within, they can call the functions of the session."""
        return known_functions(self._functions)
