"""All implementations by name: those of operators, and of every function of scalar_functions."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping

from windrow.rows.scalar.values import Function

__all__ = ["FUNCTIONS"]

# A file and its table for each family, what queries use most first; no name is in two of them.
_FAMILIES = (
    ("comparisons", "COMPARISONS"),
    ("arithmetic", "ARITHMETIC"),
    ("conditions", "CONDITIONS"),
    ("casts", "CASTS"),
    ("quotients", "QUOTIENTS"),
    ("rounding", "ROUNDING"),
    ("squares", "SQUARES"),
    ("structs", "STRUCTS"),
    ("arrays", "ARRAYS"),
    ("maps", "MAPS"),
    ("maths", "MATHS"),
    ("bits", "BITS"),
    ("digits", "DIGITS"),
    ("texts", "TEXTS"),
    ("words", "WORDS"),
    ("dates", "DATES"),
    ("date_formats", "DATE_FORMATS"),
    ("intervals", "INTERVALS"),
    ("json_values", "JSON"),
    ("timestamps", "TIMESTAMPS"),
    ("patterns", "PATTERNS"),
    ("formats", "FORMATS"),
    ("numbers_in_text", "NUMBERS_IN_TEXT"),
    ("codes", "CODES"),
    ("hashes", "HASHES"),
    ("urls", "URLS"),
)


class _Functions(Mapping[str, Function]):
    """Families are imported one after another, until one has the name."""

    def __init__(self) -> None:
        self._found: dict[str, Function] = {}
        self._waiting = list(_FAMILIES)

    def __getitem__(self, name: str) -> Function:
        while name not in self._found and self._waiting:
            self._import_next()
        return self._found[name]

    def _import_next(self) -> None:
        file, table = self._waiting[0]
        family = getattr(importlib.import_module(f"windrow.rows.scalar.{file}"), table)
        self._found.update(family)
        # Behind the import: whoever looks meanwhile, in another thread, imports it too.
        if self._waiting and self._waiting[0] == (file, table):
            del self._waiting[0]

    def __iter__(self) -> Iterator[str]:
        while self._waiting:
            self._import_next()
        return iter(self._found)

    def __len__(self) -> int:
        return len(list(iter(self)))


FUNCTIONS: Mapping[str, Function] = _Functions()
