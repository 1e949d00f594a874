"""What is said where values are written with a schema that the stream does not fit."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

from windrow.connectors.values.messages import SchemaDriftError
from windrow.errors import Place
from windrow.schema import Column

__all__ = ["MOST_SCHEMAS", "Learnt", "check_fields", "drifted"]

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")

# Of schemas that are prepared for reading, so many are kept.
MOST_SCHEMAS = 1_000


class Learnt(Generic[Key, Made]):
    """What is made of schemas, each once; so is the error of one that does not fit.

    >>> learnt = Learnt(len)
    >>> learnt["a schema"]
    8
    """

    def __init__(self, learn: Callable[[Key], Made]) -> None:
        self._learn = learn
        self._known: OrderedDict[Key, Made | SchemaDriftError] = OrderedDict()

    def __getitem__(self, key: Key) -> Made:
        found = self._known.get(key)
        if found is None:
            try:
                found = self._learn(key)
            except SchemaDriftError as problem:
                found = problem
            self._known[key] = found
            if len(self._known) > MOST_SCHEMAS:
                self._known.popitem(last=False)
        if isinstance(found, SchemaDriftError):
            raise found.with_traceback(None)
        return found


def check_fields(
    columns: Sequence[Column], fields: Iterable[str], shown: str, place: Place | None
) -> None:
    """Refuses a schema that lacks a column. shown: the schema."""
    held = list(fields)
    for column in columns:
        if column.name not in held:
            raise drifted(
                f"{shown} has no field {column.name!r}; it has {', '.join(held) or 'none'}", place
            )


def drifted(problem: str, place: Place | None) -> SchemaDriftError:
    """The error; it ends the source unless the stream sets bad rows aside."""
    return SchemaDriftError(
        "WD875",
        problem,
        hint="declare the stream with the columns that are written now, have the writer keep the "
        "field, or write ON BAD ROW SET ASIDE to go on without these rows",
        place=place,
    )
