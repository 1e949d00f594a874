"""Parts of connectors that only those import who use them: Spark's, and those with a client."""

from __future__ import annotations

import importlib
from typing import Any

from windrow.errors import UnsupportedError

__all__ = ["loaded", "loaded_with_client"]


def loaded(module: str) -> Any:
    """A module of windrow.connectors, by its name within."""
    return importlib.import_module(f"windrow.connectors.{module}")


def loaded_with_client(module: str, client: str, extra: str) -> Any:
    """The same; refused where the client that it needs is not installed.

    client: what it is for, in words. extra: of the package, that brings it.
    """
    try:
        return loaded(module)
    except ImportError as problem:
        if (problem.name or "").startswith("windrow"):
            raise
        raise UnsupportedError(
            "WU414",
            f"the client for {client} is not installed here: {problem}",
            hint=f'install it with pip install "windrow-sql[{extra}]"',
        ) from None
