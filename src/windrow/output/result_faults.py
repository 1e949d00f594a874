"""Rows of a result that have no value: they are not shown, and readers get an error.

A SUM beyond its type, or an expression over aggregates that has no value, is a fault of its group
alone and for as long as it lasts: all else of the step is applied, and the row is back as soon as
its value is in range again. The readers of answers and of changes each learn once of
what they lack, the reader of the result as long as it lacks something.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.errors import DataError
from windrow.event_time import END_OF_TIME, START_OF_TIME

__all__ = ["ResultFaults", "Words"]

Flags = NDArray[np.bool_]
Vector = NDArray[np.int64]
# Text of an error: code, message, hint.
Words = tuple[str, str, str]
Span = tuple[int, int, Words | int]  # since, until, and the words or the update to find them by


class ResultFaults:
    """The faults of a query's result, by the codes of its groups."""

    def __init__(self) -> None:
        self._standing: dict[int, Words] = {}
        self.in_answers: Words | None = None
        self._in_changes: Words | None = None
        self._spans: list[Span] = []
        self._words_of: Callable[[int], Words] = _unknown

    def record(
        self,
        at: Vector,
        group: NDArray[np.int32],
        faults: Flags | None,
        words_of: Callable[[int], Words],
    ) -> None:
        """Updates of a step in time order; words_of: says what is wrong with one of them."""
        if faults is None and not self._standing:
            return
        faults = np.zeros(at.size, np.bool_) if faults is None else faults
        self._words_of, self._spans = words_of, []
        open_spans: dict[int, tuple[int, Words | int]] = {
            each: (START_OF_TIME, words) for each, words in self._standing.items()
        }
        concerned = np.isin(group, [*open_spans, *np.unique(group[faults]).tolist()])
        for place in np.flatnonzero(concerned).tolist():
            code, instant = int(group[place]), int(at[place])
            if code in open_spans:
                since, words = open_spans.pop(code)
                self._spans.append((since, instant, words))
            if faults[place]:
                open_spans[code] = (instant, place)
                self._in_changes = self._in_changes or words_of(place)
        self._spans += [(since, END_OF_TIME, words) for since, words in open_spans.values()]
        self._standing = {code: self._found(words) for code, (_, words) in open_spans.items()}

    def ask(self, due: Vector) -> None:
        """Answers are due at these instants of the step."""
        for since, until, words in self._spans:
            if self.in_answers is not None:
                break
            if np.searchsorted(due, since) < np.searchsorted(due, until):
                self.in_answers = self._found(words)
        standing = self._standing.values()
        self._spans = [(START_OF_TIME, END_OF_TIME, words) for words in list(standing)[:1]]
        self._words_of = _unknown

    def check_answers(self) -> None:
        """Tell of rows that answers lack, once."""
        words, self.in_answers = self.in_answers, None
        if words is not None:
            raise _error(words, "call answers() again for all other rows")

    def check_changes(self) -> None:
        """Tell of rows that changes lack, once."""
        words, self._in_changes = self._in_changes, None
        if words is not None:
            raise _error(words, "call changes() again for all other rows")

    def check_result(self) -> None:
        """Tell of a row that the result lacks now."""
        for words in self._standing.values():
            raise _error(words, "the row returns once its value is in range")

    def drop_answers(self) -> None:
        """Nobody will read the answers so far."""
        self.in_answers = None

    def drop_changes(self) -> None:
        """Nobody will read the changes so far."""
        self._in_changes = None

    def groups_in_use(self, size: int) -> Flags:
        """The groups that lack their row, as flags of at least that size."""
        highest = max(self._standing, default=-1) + 1
        used = np.zeros(max(size, highest), np.bool_)
        used[list(self._standing)] = True
        return used

    def saved(self) -> dict[str, Any]:
        """Everything as JSON takes it."""
        return {
            "standing": list(self._standing.items()),
            "answers": self.in_answers,
            "changes": self._in_changes,
        }

    def load(self, saved: dict[str, Any], new_code: NDArray[np.int32]) -> None:
        """Back from saved(); groups have the codes new_code[old code] now."""
        standing = {int(new_code[old]): tuple(words) for old, words in saved["standing"]}
        self._standing = {
            group: (words[0], words[1], words[2]) for group, words in standing.items()
        }
        self.in_answers, self._in_changes = (
            None if words is None else (words[0], words[1], words[2])
            for words in (saved["answers"], saved["changes"])
        )
        self.ask(np.empty(0, np.int64))

    def _found(self, words: Words | int) -> Words:
        return self._words_of(words) if isinstance(words, int) else words


def _error(words: Words, more: str) -> DataError:
    code, message, hint = words
    return DataError(code, message, hint=f"{hint}; {more}")


def _unknown(_update: int) -> Words:
    raise AssertionError("the group updates of this step are gone")
