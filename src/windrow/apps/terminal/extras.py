"""Parts that need more than `pip install windrow-sql`, imported only by those who use them."""

from __future__ import annotations

import importlib
from types import ModuleType

from windrow.errors import UnsupportedError

__all__ = ["console_module", "spark_module"]


def spark_module(name: str) -> ModuleType:
    """A module of ours that imports Spark; without Spark, an error that says how to get it."""
    hint = 'install it with pip install "windrow-sql[spark]", or add --embedded'
    return _module(name, "WU510", "Spark is not installed here", hint)


def console_module(name: str) -> ModuleType:
    """A module of ours that needs the web framework; without it, how to get it."""
    hint = 'install it with pip install "windrow-sql[console]"'
    return _module(name, "WU601", "the console's web server is not installed here", hint)


def _module(name: str, code: str, lack: str, hint: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as problem:
        if (problem.name or "").startswith("windrow"):
            raise
        message = f"{lack}: there is no module {problem.name!r}"
        raise UnsupportedError(code, message, hint=hint) from None
