"""The schema of a table: columns, the key that tells its rows apart, and perhaps their time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from windrow.errors import BindingError
from windrow.schema import MAX_COLUMNS, TIMESTAMP, Column, StreamSchema

__all__ = ["TableSchema", "key_of"]


@dataclass(frozen=True)
class TableSchema(StreamSchema):
    """A table holds the newest row of each key.

    time: the column by which versions of a row are ordered; '' where they take effect as they come.

    >>> from windrow.schema import columns_of
    >>> TableSchema("rooms", columns_of("id string, name string"), "", key=("id",)).has_time
    False
    """

    key: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            message = f"table {self.name!r} has two columns named {twice!r}"
            raise BindingError("WB711", message, hint="give one of them another name")
        if len(names) > MAX_COLUMNS:
            message = f"table {self.name!r} has more than {MAX_COLUMNS} columns"
            raise BindingError("WB711", message, hint="declare those that queries read")
        self._check_key(names)
        self._check_time(names)

    @property
    def has_time(self) -> bool:
        """Whether versions of a row have times of their own."""
        return bool(self.time)

    @property
    def key_places(self) -> tuple[int, ...]:
        """The places of the key's columns."""
        names = [column.name for column in self.columns]
        return tuple(names.index(name) for name in self.key)

    def _check_key(self, names: list[str]) -> None:
        if not self.key:
            raise BindingError(
                "WB711",
                f"table {self.name!r} has no key: nothing tells its rows apart",
                hint="name the columns of the key: key=['id'], or PRIMARY KEY (id)",
            )
        for name in self.key:
            if name not in names or self.key.count(name) > 1:
                problem = " twice" if name in names else ", which is no column of it"
                raise BindingError(
                    "WB711",
                    f"the key of table {self.name!r} names {name!r}{problem}",
                    hint=f"its columns are {', '.join(names)}",
                )

    def _check_time(self, names: list[str]) -> None:
        if not self.time:
            return
        kind = self.column(self.time).type if self.time in names else None
        if kind != TIMESTAMP:
            told = "has no such column" if kind is None else f"declares it as {kind}"
            raise BindingError(
                "WB711",
                f"the time of table {self.name!r} cannot be {self.time!r}: the table {told}",
                hint="name a column of type TIMESTAMP, or omit TIME: then rows take effect as "
                "they come",
            )


def key_of(columns: Iterable[Column], key: str | Iterable[str]) -> tuple[str, ...]:
    """The columns of a key as they are declared, in whatever case the key names them."""
    named = [key] if isinstance(key, str) else list(key)
    known = {column.name.lower(): column.name for column in columns}
    exact = set(known.values())
    return tuple(name if name in exact else known.get(name.lower(), name) for name in named)
