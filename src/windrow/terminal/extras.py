"""Parts that need more than `pip install windrow`, imported only by those who use them."""

from __future__ import annotations

import importlib
from types import ModuleType

from windrow.errors import UnsupportedError

__all__ = ["spark_module"]


def spark_module(name: str) -> ModuleType:
    """A module of ours that imports Spark; without Spark, an error that says how to get it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as problem:
        if (problem.name or "").startswith("windrow"):
            raise
        raise UnsupportedError(
            "WU510",
            f"Spark is not installed here: there is no module {problem.name!r}",
            hint='install it with pip install "windrow[spark]", or add --embedded',
        ) from None
