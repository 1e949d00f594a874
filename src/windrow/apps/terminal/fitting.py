"""Texts that are longer than a terminal is wide: broken between words, or cut around a place."""

from __future__ import annotations

import re
import textwrap

from rich.cells import cell_len

from windrow.errors import WindrowError

__all__ = ["fitted_error", "fitted_lines"]

LEAST_WIDTH = 20  # below it nothing can be read anyhow
# What stands before the text of a line, such as `  algorithm   `: the rest continues below it.
_LABEL = re.compile(r"\s*(?:\S+\s{2,})?")
_LONGEST_LABEL = 16
_CUT = "…"


def fitted_lines(text: str, width: int) -> list[str]:
    """The lines of a text, each broken between words, with what is broken off indented.

    >>> fitted_lines("  columns     location STRING, n BIGINT", 32)
    ['  columns     location STRING, n', '              BIGINT']
    """
    return [part for line in text.split("\n") for part in _broken(line, width)]


def fitted_error(error: WindrowError, width: int) -> list[str]:
    """An error as it renders; of a line that is too long, the part with the wrong word."""
    first, *rest = str(error).split("\n")
    lines = fitted_lines(first, width)
    if error.place is not None and len(rest) >= 2:
        line, carets, *rest = rest
        lines += _around(line, carets, width)
    return [*lines, *(part for line in rest for part in fitted_lines(line, width))]


def _broken(line: str, width: int) -> list[str]:
    if cell_len(line) <= max(width, LEAST_WIDTH):
        return [line]
    label = _LABEL.match(line)
    indent = len(label[0]) if label is not None and len(label[0]) <= _LONGEST_LABEL else 0
    return textwrap.wrap(
        line,
        max(width, LEAST_WIDTH),
        subsequent_indent=" " * indent,
        drop_whitespace=True,
        replace_whitespace=False,
        break_on_hyphens=False,
        break_long_words=False,  # an address stays whole
    )


def _around(line: str, carets: str, width: int) -> list[str]:
    """A line and the carets below it; where they are wider than the terminal, what is near them."""
    if cell_len(line) <= width or not line.isascii() or "\t" in line:
        return [line, carets]
    begin = len(carets) - len(carets.lstrip())
    start = 0 if len(carets) < width else max(0, begin - width // 3)
    left = _CUT if start else ""
    room = width - len(left)
    right = _CUT if len(line) > start + room else ""
    shown = f"{left}{line[start : start + room - len(right)]}{right}"
    return [shown, (" " * len(left) + carets[start:])[:width]]
