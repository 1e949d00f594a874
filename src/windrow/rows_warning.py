"""A warning of rows that do not count, at the line of the program that pushed or read."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from windrow.errors import WindrowWarning

__all__ = ["warn_of_rows"]

_PACKAGE = str(Path(__file__).parent)


def warn_of_rows(message: str) -> None:
    """Warn, such that the line shown is the first outside of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, WindrowWarning, stacklevel=level + 1)
