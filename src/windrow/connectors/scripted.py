"""How scripts name a source or a sink: csv('path', header = TRUE), postgres('table', url = ...)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from windrow.connectors.options import Options

__all__ = ["Scripted"]

Described = TypeVar("Described", covariant=True)


@dataclass(frozen=True)
class Scripted(Generic[Described]):
    """The options that it takes, that without a name first, and the description made of them.

    An option that ends in '.*' stands for all that begin so.
    """

    options: tuple[str, ...]
    described: Callable[[Options], Described]
