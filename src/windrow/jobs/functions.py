"""CREATE FUNCTION in scripts; functions of Python only from modules that were permitted.

The text of a script names a function and never imports anything: modules are imported here, from
what the caller of the script permits, and a function is looked up among their own public ones.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from windrow.errors import BindingError, Place, UnsupportedError, WindrowError
from windrow.plan.scalars import scope_of
from windrow.plan.session_zone import within_zone
from windrow.plan.sql_functions import sql_function
from windrow.plan.user_functions import (
    GivenFunction,
    check_function_name,
    known_functions,
    user_function,
)
from windrow.sql.statements import CreateFunction

__all__ = ["NO_MODULES", "Modules", "function_of", "permitted_modules"]

Modules = Mapping[str, ModuleType]
NO_MODULES: Modules = MappingProxyType({})

# What a function of Python returns by its annotation, as a type of columns.
_ANNOTATED: Mapping[Any, str] = {
    **{bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "STRING", bytes: "BINARY"},
    **{datetime: "TIMESTAMP", date: "DATE", Decimal: "DECIMAL(38, 18)"},
}


def permitted_modules(names: Iterable[str]) -> Modules:
    """Modules by their names; each is given as one that Python finds, or as a file of Python."""
    return dict(_module(name) for name in names)


def _module(name: str) -> tuple[str, ModuleType]:
    try:
        if name.endswith(".py"):
            return _file_module(Path(name))
        return name, importlib.import_module(name)
    except Exception as problem:  # whatever the module itself raises
        raise BindingError(
            "WB765",
            f"{name!r} cannot be imported: {type(problem).__name__}: {problem}",
            hint="give a module that Python finds, or a file: --functions-from my_functions.py",
        ) from None


def _file_module(path: Path) -> tuple[str, ModuleType]:
    """It stays out of sys.modules, so that Spark sends its functions whole."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no file of Python")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return path.stem, module


def function_of(
    statement: CreateFunction,
    known: Mapping[str, GivenFunction],
    modules: Modules,
    time_zone: str,
) -> GivenFunction:
    """The function that a statement defines; its body may call those that are known."""
    try:
        check_function_name(statement.name)
        if statement.name.lower() in known:
            message = f"a function {statement.name!r} exists already"
            raise BindingError("WB755", message, hint="choose another name")
        if statement.body is None:
            return _of_python(statement, modules)
        with known_functions(known), within_zone(time_zone):
            return sql_function(statement, scope_of)
    except WindrowError as error:
        raise _placed(error, statement.place) from None


def _of_python(statement: CreateFunction, modules: Modules) -> GivenFunction:
    function = _looked_up(statement, modules)
    takes = None
    if statement.parameters is not None:
        takes = [kind for _, kind in statement.parameters]
    returns = statement.returns or _annotated(statement, function)
    return user_function(
        statement.name, function, returns, takes, is_vectorised=statement.is_vectorised
    )


def _looked_up(statement: CreateFunction, modules: Modules) -> Callable[..., Any]:
    module_name, _, name = statement.python_name.rpartition(".")
    module = modules.get(module_name)
    if module is None:
        listed = ", ".join(sorted(modules)) or "none"
        raise UnsupportedError(
            "WU764",
            f"functions of module {module_name!r} are not permitted here; permitted are: {listed}",
            hint="a script cannot import code by itself: whoever runs it permits a module with "
            f"--functions-from {module_name or 'MODULE'}",
        )
    found = getattr(module, name, None)
    if found is None or name not in _public(module) or not callable(found):
        raise BindingError(
            "WB766",
            f"module {module_name!r} has no function {name!r} of its own",
            hint="functions that it imports, and names that begin with _, cannot be called; list "
            "others in its __all__",
        )
    return typing.cast(Callable[..., Any], found)


def _public(module: ModuleType) -> set[str]:
    """What the module offers: __all__, or the functions that it defines itself."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return set(listed)
    own = inspect.getmembers(module, inspect.isfunction)
    return {
        name
        for name, each in own
        if each.__module__ == module.__name__ and not name.startswith("_")
    }


def _annotated(statement: CreateFunction, function: Callable[..., Any]) -> str:
    try:
        found = typing.get_type_hints(function).get("return")
    except Exception:  # annotations may name what is not there at run time
        found = None
    parts = [each for each in typing.get_args(found) if each is not type(None)]
    kind = _ANNOTATED.get(parts[0] if len(parts) == 1 else found)
    if kind is None:
        raise BindingError(
            "WB767",
            f"{statement.python_name} does not say what it returns",
            hint="write RETURNS DOUBLE before AS, or annotate the function: def f(x) -> float",
        )
    return kind


def _placed(error: WindrowError, place: Place | None) -> WindrowError:
    return type(error)(error.code, error.message, hint=error.hint, place=error.place or place)
