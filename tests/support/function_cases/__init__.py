"""Calls of all scalar functions, to be compared with Spark: see arguments.py for their columns.

A case is the text of an expression that means the same in Spark and here. DIFFERENCES lists those
whose values may differ, each with its reason.
"""

from __future__ import annotations

from support.function_cases.arrays import ARRAYS
from support.function_cases.codes import CODES
from support.function_cases.conditional import CONDITIONAL
from support.function_cases.dates import DATES
from support.function_cases.differences import DIFFERENCES
from support.function_cases.json import JSON
from support.function_cases.maths import MATHS
from support.function_cases.regexp import REGEXP
from support.function_cases.text import TEXT

__all__ = ["CASES", "DIFFERENCES"]

CASES: tuple[str, ...] = (*MATHS, *CONDITIONAL, *TEXT, *REGEXP, *CODES, *DATES, *JSON, *ARRAYS)
