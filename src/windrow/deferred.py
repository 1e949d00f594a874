"""Names of modules that few need: imported when they are first used, and not before.

A query of one block needs a quarter of the package, and importing the rest takes longer than the
query. A module that defers a name has the import for those who check types or layers:

    if TYPE_CHECKING:
        from windrow.history.operator import HistoryOperator
    else:
        HistoryOperator = deferred("windrow.history.operator", "HistoryOperator")
"""

from __future__ import annotations

import gc
import importlib
import sys
from types import ModuleType
from typing import Any

__all__ = ["Deferred", "deferred", "imported"]


def imported(module: str) -> ModuleType:
    """The module, imported unless it is there.

    What modules make stays: looking for garbage among it would take a tenth of the time.
    """
    found = sys.modules.get(module)
    # One that is being imported by another thread is waited for.
    if found is not None and not getattr(found.__spec__, "_initializing", False):
        return found
    looks_for_garbage = gc.isenabled()
    gc.disable()
    try:
        return importlib.import_module(module)
    finally:
        if looks_for_garbage:
            gc.enable()


def deferred(module: str, name: str) -> Any:
    """A function, class or constant of a module, which is imported at its first use."""
    return Deferred(module, name)


class Deferred:
    """Stands for a name. Nothing is an instance of a class whose module was never imported.

    >>> Fraction = deferred("fractions", "Fraction")
    >>> Fraction(1, 2) + 1
    Fraction(3, 2)
    """

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    @property
    def found(self) -> Any:
        """What it stands for."""
        return getattr(imported(self._module), self._name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Calls what it stands for."""
        return self.found(*arguments, **named)

    def __instancecheck__(self, value: object) -> bool:
        module = sys.modules.get(self._module)
        return module is not None and isinstance(value, getattr(module, self._name))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.found, name)

    def __getitem__(self, key: Any) -> Any:
        return self.found[key]

    def __iter__(self) -> Any:
        return iter(self.found)

    def __contains__(self, key: object) -> bool:
        return key in self.found

    def __repr__(self) -> str:
        return f"{self._module}.{self._name}, imported when it is used"
