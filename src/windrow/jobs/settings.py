"""What SET says in a script: memory, the time zone, and on Spark the checkpoint and the pace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from windrow.clocks import clock_named
from windrow.errors import BindingError
from windrow.event_time import span_of
from windrow.memory_size import memory_of
from windrow.plan.nearest import nearest
from windrow.plan.session_zone import DEFAULT_ZONE, checked_zone
from windrow.sql.double_quotes import double_quotes_named
from windrow.sql.statements import SetOption

__all__ = ["JobSettings"]

_NAMES = ("memory", "checkpoint", "trigger", "clock", "time_zone", "double_quotes")


@dataclass(frozen=True)
class JobSettings:
    """None where the script sets nothing."""

    memory: int | None = None
    checkpoint: str | None = None
    trigger: str | None = None  # the span between batches of a job that has no end
    clock: str | None = None

    time_zone: str = DEFAULT_ZONE

    def changed(self, option: SetOption) -> JobSettings:
        """The settings after one SET."""
        name = option.name.lower()
        if name == "memory":
            return replace(self, memory=_memory(option))
        if name == "checkpoint":
            return replace(self, checkpoint=_folder(option))
        if name == "trigger":
            return replace(self, trigger=_span(option))
        if name == "clock":
            return replace(self, clock=_clock(option))
        if name == "time_zone":
            return replace(self, time_zone=_zone(option))
        if name == "double_quotes":
            _in_place(option, double_quotes_named)
            return self  # the parser has read what follows by it
        guess = nearest(name, _NAMES)
        hint = f"did you mean {guess}?" if guess else f"SET knows {', '.join(_NAMES)}"
        message = f"there is no setting {option.name!r}"
        raise BindingError("WB513", message, hint=hint, place=option.place)


def _memory(option: SetOption) -> int:
    value = option.value
    try:
        return memory_of(value if isinstance(value, str) else int(value))
    except BindingError as error:
        raise BindingError(error.code, error.message, hint=error.hint, place=option.place) from None


def _clock(option: SetOption) -> str:
    return _in_place(option, clock_named)


def _in_place(option: SetOption, named: Callable[[str], str]) -> str:
    try:
        return named(str(option.value))
    except BindingError as error:
        raise BindingError(error.code, error.message, hint=error.hint, place=option.place) from None


def _zone(option: SetOption) -> str:
    try:
        return checked_zone(option.value)
    except BindingError as error:
        raise BindingError(error.code, error.message, hint=error.hint, place=option.place) from None


def _folder(option: SetOption) -> str:
    if isinstance(option.value, str) and option.value:
        return option.value
    raise BindingError(
        "WB514",
        f"{option.value!r} is not a folder",
        hint="write SET checkpoint = 'a/folder'",
        place=option.place,
    )


def _span(option: SetOption) -> str:
    try:
        span_of(str(option.value))
    except BindingError as error:
        raise BindingError(error.code, error.message, hint=error.hint, place=option.place) from None
    return str(option.value)
