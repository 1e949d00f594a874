"""The time zone of the session whose query is being bound.

It reaches a plan only as a constant argument of the calls that depend on it, so that a plan means
the same wherever it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

from windrow.errors import BindingError
from windrow.times.zones import zone_named

__all__ = ["DEFAULT_ZONE", "checked_zone", "in_session_zone", "session_zone", "within_zone"]

Given = ParamSpec("Given")
Bound = TypeVar("Bound")

DEFAULT_ZONE = "UTC"
_ZONE: ContextVar[str] = ContextVar("session_zone", default=DEFAULT_ZONE)


def session_zone() -> str:
    """The zone in which times of the text are meant."""
    return _ZONE.get()


@contextmanager
def within_zone(name: str) -> Iterator[None]:
    """Bind what is within in that zone."""
    token = _ZONE.set(name)
    try:
        yield
    finally:
        _ZONE.reset(token)


def in_session_zone(bind: Callable[Given, Bound]) -> Callable[Given, Bound]:
    """A binder whose second argument is a catalog, bound in the zone of that."""

    @wraps(bind)
    def bound(*arguments: Given.args, **named: Given.kwargs) -> Bound:
        with within_zone(getattr(arguments[1], "time_zone", DEFAULT_ZONE)):
            return bind(*arguments, **named)

    return bound


def checked_zone(name: object) -> str:
    """The name of a time zone, or an error.

    >>> checked_zone("Europe/Berlin")
    'Europe/Berlin'
    """
    zone = zone_named(name) if isinstance(name, str) else None
    if zone is None:
        raise BindingError(
            "WB740",
            f"there is no time zone {name!r}",
            hint="give a name such as 'Europe/Berlin', or an offset such as '+05:30'",
        )
    return DEFAULT_ZONE if zone.fixed_us == 0 else str(name)
