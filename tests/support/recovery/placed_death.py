"""kill -9 of the driver by itself, at places that a moment chosen at random would rarely meet."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.driver.publication import Publication
from windrow.spark.monitoring.status import QueryStatus
from windrow.spark.shuffle import control
from windrow.storage import Storage

__all__ = ["CLAIM", "ORDER", "PLACES", "place_death"]

CLAIM = "after the claim"
ORDER = "after an order"


def place_death(place: str, time: int) -> None:
    """Dies when the place is passed for the so-manieth time."""
    owner, name, when = PLACES[place]
    passed = iter(range(1, time + 1))

    def is_now() -> bool:
        return next(passed, 0) == time

    setattr(owner, name, when(getattr(owner, name), is_now))


def _after(function: Callable[..., Any], is_now: Callable[[], bool]) -> Callable[..., Any]:
    def run(*given: Any, **named: Any) -> Any:
        result = function(*given, **named)
        if is_now():
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return run


def _before(function: Callable[..., Any], is_now: Callable[[], bool]) -> Callable[..., Any]:
    def run(*given: Any, **named: Any) -> Any:
        if is_now():
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*given, **named)

    return run


def _half_way(function: Callable[..., Any], is_now: Callable[[], bool]) -> Callable[..., Any]:
    """Dies in the middle of writing a file, before it has its name."""

    def write(storage: Storage, name: str, data: bytes | memoryview) -> None:
        if is_now():
            half = bytes(data)[: len(data) // 2]
            (Path(storage.location) / f".{name}.{'0' * 32}").write_bytes(half)
            os.kill(os.getpid(), signal.SIGKILL)
        function(storage, name, data)

    return write


# Whose function, its name, and whether death comes before it, in it or after it.
PLACES: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    CLAIM: (QueryCheckpoint, "claim", _after),
    "before the sink": (Publication, "absorb", _after),
    "between sink and save": (QueryStatus, "to_dict", _before),
    "in a write": (Storage, "write", _half_way),
    "between save and commit": (Publication, "save", _after),
    ORDER: (control, "_write", _after),
}
