"""Methods of a session that never run side by side, when metrics are read in another thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

__all__ = ["HasLock", "one_at_a_time"]

Parameters = ParamSpec("Parameters")
Given = TypeVar("Given")


class HasLock(Protocol):
    """What has a lock of its own, which its methods may take within each other."""

    _lock: threading.RLock


Self = TypeVar("Self", bound=HasLock)


def one_at_a_time(
    method: Callable[Concatenate[Self, Parameters], Given],
) -> Callable[Concatenate[Self, Parameters], Given]:
    """The method, which waits until no other such method of the object runs in another thread."""

    @wraps(method)
    def alone(self: Self, /, *args: Parameters.args, **options: Parameters.kwargs) -> Given:
        with self._lock:
            return method(self, *args, **options)

    return alone
