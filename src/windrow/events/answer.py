"""An answer as plain Python has it: a list of dicts, and when it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any

from windrow.event_time import START_OF_TIME

__all__ = ["Answer", "answer_of"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Answer(list[dict[str, Any]]):
    """The rows of an answer; `at` is its instant, None before any row has come.

    >>> answer = answer_of([{"n": 1}], at_us=1_000_000)
    >>> answer, answer.at.second, answer.level, answer.error_bound
    ([{'n': 1}], 1, 'A', None)
    """

    # Without __init__: one is made for every event, and then it is a plain copy of a list.
    __slots__ = ("_level", "at_us", "is_changed")
    at_us: int
    is_changed: bool  # by whoever has it; set where that is of interest
    _level: str

    @property
    def at(self) -> datetime | None:
        """The instant for which it holds."""
        if self.at_us <= START_OF_TIME:
            return None
        return _EPOCH + timedelta(microseconds=self.at_us)

    @property
    def level(self) -> str:
        """As in answers(): 'A' where the answer is exact, 'incomplete' where rows are lacking."""
        try:
            return self._level
        except AttributeError:
            return "A"

    @property
    def error_bound(self) -> float | None:
        """As in answers(); None where the answer is exact or the bound is not known here."""
        return None


def _noticed(name: str) -> Callable[..., Any]:
    """A method of lists that changes them, which says so."""
    change = getattr(list, name)

    @wraps(change)
    def noticed(self: Answer, *given: Any, **options: Any) -> Any:
        self.is_changed = True
        return change(self, *given, **options)

    return noticed


for _name in (
    "__delitem__", "__iadd__", "__imul__", "__setitem__", "append", "clear", "extend", "insert",
    "pop", "remove", "reverse", "sort",
):  # fmt: skip
    setattr(Answer, _name, _noticed(_name))


def answer_of(
    rows: Iterable[dict[str, Any]], at_us: int = START_OF_TIME, level: str = "A"
) -> Answer:
    """An answer with its attributes."""
    answer = Answer(rows)
    answer.at_us, answer._level = at_us, level
    return answer
