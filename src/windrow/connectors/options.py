"""The values in the brackets of a source or sink: taken out one by one, and nothing may be left."""

from __future__ import annotations

import os

from windrow.errors import BindingError, Place
from windrow.plan.nearest import nearest
from windrow.sql.statements import Endpoint, FromEnvironment

__all__ = ["Options"]

Value = str | int | float | bool

_SHOWN = {str: "a text in quotes", bool: "TRUE or FALSE", int: "a whole number"}


class Options:
    """What one endpoint was given; `known` names its options in the order of unnamed values.

    A known name that ends in '.*' stands for all options that begin so.
    """

    def __init__(self, endpoint: Endpoint, known: tuple[str, ...]) -> None:
        self._endpoint = endpoint
        self._known = known
        self._given: dict[str, Value] = {}
        self._variables: dict[str, str] = {}  # of the environment, by option: never shown
        if len(endpoint.arguments) > 1:
            raise self._wrong(
                "WB501", "accepts only one value without a name", "give the others names"
            )
        if endpoint.arguments:
            self._add(known[0] if known else "value", endpoint.arguments[0])
        for name, value in endpoint.options:
            self._add(name.lower(), value)
        self._refuse_unknown()

    @property
    def place(self) -> Place | None:
        """Where the endpoint stands."""
        return self._endpoint.place

    def text(self, name: str, default: str | None = None) -> str:
        """An option that is a text."""
        return str(self._value(name, str, default))

    def names(self, name: str) -> tuple[str, ...] | None:
        """An option that is a text of names with commas between, or was not given."""
        if name not in self._given:
            return None
        return tuple(part.strip() for part in self.text(name).split(",") if part.strip())

    def flag(self, name: str, default: bool) -> bool:
        """An option that is TRUE or FALSE."""
        return bool(self._value(name, bool, default))

    def count(self, name: str) -> int | None:
        """An option that is a whole number from 1 on, or was not given."""
        if name not in self._given:
            return None
        number = int(self._value(name, int, None))
        if number < 1:
            raise self._wrong("WB504", f"cannot have {name} = {number}", "give 1 or more")
        return number

    def needed_count(self, name: str) -> int:
        """An option that is a whole number from 1 on, and must be given."""
        self._value(name, int, None)
        number = self.count(name)
        assert number is not None
        return number

    def one_of(self, name: str, possible: tuple[str, ...]) -> str:
        """An option that is one of a few words; the first is the default."""
        word = self.text(name, possible[0]).lower()
        if word not in possible:
            shown = " or ".join(f"'{each}'" for each in possible)
            message = f"cannot have {name} = {self._shown(name, word)}"
            raise self._wrong("WB505", message, f"use {shown}")
        return word

    def beginning(self, prefix: str) -> dict[str, str]:
        """All options whose names begin so, as texts."""
        return {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in self._given.items()
            if name.startswith(prefix)
        }

    def _value(self, name: str, kind: type, default: Value | None) -> Value:
        value = self._given.get(name, default)
        if value is None:
            shown = "'...'" if name == self._known[0] else f"{name} = ..."
            raise self._wrong("WB502", f"needs a {name}", f"write {self._endpoint.name}({shown})")
        # TRUE is an int to Python, but not in WQL.
        if type(value) is not kind:
            raise self._wrong(
                "WB503",
                f"cannot have {name} = {self._shown(name, value)}",
                f"{name} is {_SHOWN[kind]}",
            )
        return value

    def _add(self, name: str, value: Value | FromEnvironment) -> None:
        if name in self._given:
            raise self._wrong("WB506", f"is given its {name} twice", "keep one")
        self._given[name] = self._read(name, value) if isinstance(value, FromEnvironment) else value

    def _read(self, name: str, variable: FromEnvironment) -> Value:
        value = os.environ.get(variable.name)
        if value is None:
            message = f"needs {variable.name}, which is not set in the environment"
            raise self._wrong("WB508", message, f"set it: export {variable.name}=...")
        self._variables[name] = variable.name
        return value

    def _shown(self, name: str, value: Value) -> str:
        variable = self._variables.get(name)
        return repr(value) if variable is None else f"env({variable!r})"

    def _refuse_unknown(self) -> None:
        for name in self._given:
            if name not in self._known and f"{name.partition('.')[0]}.*" not in self._known:
                guess = nearest(name, self._known)
                possible = ", ".join(self._known) or "it takes none"
                hint = f"did you mean {guess}?" if guess else f"its options: {possible}"
                raise self._wrong("WB507", f"has no option {name!r}", hint)

    def _wrong(self, code: str, message: str, hint: str) -> BindingError:
        endpoint = self._endpoint
        return BindingError(code, f"{endpoint.name}() {message}", hint=hint, place=endpoint.place)
