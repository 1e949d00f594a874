"""All implementations by name: those of operators, and of every function of scalar_functions."""

from __future__ import annotations

from windrow.rows.scalar.arithmetic import ARITHMETIC
from windrow.rows.scalar.arrays import ARRAYS
from windrow.rows.scalar.bits import BITS
from windrow.rows.scalar.casts import CASTS
from windrow.rows.scalar.codes import CODES
from windrow.rows.scalar.comparisons import COMPARISONS
from windrow.rows.scalar.conditions import CONDITIONS
from windrow.rows.scalar.date_formats import DATE_FORMATS
from windrow.rows.scalar.dates import DATES
from windrow.rows.scalar.digits import DIGITS
from windrow.rows.scalar.formats import FORMATS
from windrow.rows.scalar.hashes import HASHES
from windrow.rows.scalar.intervals import INTERVALS
from windrow.rows.scalar.json_values import JSON
from windrow.rows.scalar.maps import MAPS
from windrow.rows.scalar.maths import MATHS
from windrow.rows.scalar.numbers_in_text import NUMBERS_IN_TEXT
from windrow.rows.scalar.patterns import PATTERNS
from windrow.rows.scalar.quotients import QUOTIENTS
from windrow.rows.scalar.rounding import ROUNDING
from windrow.rows.scalar.squares import SQUARES
from windrow.rows.scalar.structs import STRUCTS
from windrow.rows.scalar.texts import TEXTS
from windrow.rows.scalar.timestamps import TIMESTAMPS
from windrow.rows.scalar.urls import URLS
from windrow.rows.scalar.values import Function
from windrow.rows.scalar.words import WORDS

__all__ = ["FUNCTIONS"]

FUNCTIONS: dict[str, Function] = {
    **ARITHMETIC,
    **QUOTIENTS,
    **COMPARISONS,
    **CASTS,
    **ROUNDING,
    **SQUARES,
    **STRUCTS,
    **ARRAYS,
    **MAPS,
    **CONDITIONS,
    **MATHS,
    **BITS,
    **DIGITS,
    **TEXTS,
    **WORDS,
    **DATES,
    **DATE_FORMATS,
    **INTERVALS,
    **JSON,
    **TIMESTAMPS,
    **PATTERNS,
    **FORMATS,
    **NUMBERS_IN_TEXT,
    **CODES,
    **HASHES,
    **URLS,
}
