"""Sizes of memory: a number of bytes, or a text with B, KB, MB or GB."""

from __future__ import annotations

import re

from windrow.errors import BindingError

__all__ = ["DEFAULT_MEMORY", "memory_of", "show_memory"]

DEFAULT_MEMORY = "1 GB"

_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMG]?B)\s*\Z", re.IGNORECASE)


def memory_of(value: str | int) -> int:
    """Bytes; a KB is 1024 of them.

    >>> memory_of("64 MB"), memory_of(1000)
    (67108864, 1000)
    """
    match = _SIZE.match(value) if isinstance(value, str) else None
    if isinstance(value, int) and not isinstance(value, bool):
        size = value
    elif match is not None:
        size = int(float(match.group(1)) * _UNITS[match.group(2).upper()])
    else:
        size = 0
    if size <= 0:
        raise BindingError(
            "WB103",
            f"{value!r} is not a memory size",
            hint="write a number with B, KB, MB or GB, such as '64 MB', or an integer of bytes",
        )
    return size


def show_memory(size: int) -> str:
    """A size for people.

    >>> show_memory(67108864), show_memory(1000)
    ('64.0 MB', '1000 B')
    """
    for unit in ("GB", "MB", "KB"):
        if size >= _UNITS[unit]:
            return f"{size / _UNITS[unit]:.1f} {unit}"
    return f"{size} B"
