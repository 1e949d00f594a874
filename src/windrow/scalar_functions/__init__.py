"""The scalar functions: one entry each, for the parser, the binder, the evaluator and the docs.

To add one is an entry in the file of its area here, an implementation under its name in rows/scalar
(rows/scalar/registry.py gathers those), and a line of values to compare with Spark in
tests/support/function_cases. What cannot be said by kinds of arguments has a form of its own in
plan/function_forms.py. Operators (AND, CASE, LIKE) are no functions: see plan/operators.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from windrow.scalar_functions.arrays import ARRAYS
from windrow.scalar_functions.bits import BITS
from windrow.scalar_functions.conditional import CONDITIONAL
from windrow.scalar_functions.dates import DATES
from windrow.scalar_functions.entry import MANY, Given, Gives, Kind, ScalarFunction, Takes
from windrow.scalar_functions.hashing import HASHING
from windrow.scalar_functions.json import JSON
from windrow.scalar_functions.maps import MAPS
from windrow.scalar_functions.maths import MATHS
from windrow.scalar_functions.regexp import REGEXP
from windrow.scalar_functions.structs import STRUCTS
from windrow.scalar_functions.text import TEXT
from windrow.scalar_functions.urls import URLS

__all__ = [
    "AREAS",
    "MANY",
    "SCALAR_FUNCTIONS",
    "SCALAR_NAMES",
    "Given",
    "Gives",
    "Kind",
    "ScalarFunction",
    "Takes",
]

# In the order of the page of functions.
AREAS: Mapping[str, tuple[ScalarFunction, ...]] = {
    "Numbers": MATHS,
    "Bits": BITS,
    "Conditions and NULL": CONDITIONAL,
    "Text": TEXT,
    "Regular expressions": REGEXP,
    "Dates and times": DATES,
    "JSON": JSON,
    "Arrays": ARRAYS,
    "Maps": MAPS,
    "Structs": STRUCTS,
    "Hashes and codes": HASHING,
    "URLs": URLS,
}
SCALAR_FUNCTIONS: Mapping[str, ScalarFunction] = {
    each.name: each for area in AREAS.values() for each in area
}
# Every name that can be written, and what it means.
SCALAR_NAMES: Mapping[str, ScalarFunction] = {
    name: each for each in SCALAR_FUNCTIONS.values() for name in (each.name, *each.also)
}
