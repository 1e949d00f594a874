"""A query that has failed: it runs no more, and says why to everyone who reads it."""

from __future__ import annotations

import warnings
from contextlib import suppress

from windrow.errors import DataError

__all__ = ["Failing"]


class Failing:
    """What queries of a session have in common when a row ends them; others continue."""

    name: str
    _failure: DataError | None = None

    def fail(self, error: DataError) -> None:
        """Stop for good: without the row no later answer would be right."""
        self._failure = DataError(
            error.code, f"query {self.name!r} has stopped: {error.message}",
            hint=error.hint, place=error.place,
        )  # fmt: skip
        # Where warnings are errors, none may come between the other queries and their rows.
        with suppress(RuntimeWarning):
            warnings.warn(str(self._failure), RuntimeWarning, stacklevel=2)

    @property
    def failure(self) -> DataError | None:
        """Why it has stopped by itself, if it has."""
        return self._failure

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure.with_traceback(None)
