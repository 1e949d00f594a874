"""Counts that a source is given: whole numbers from 1 on."""

from __future__ import annotations

from windrow.errors import BindingError

__all__ = ["check_count"]


def check_count(name: str, number: int, largest: int | None = None) -> None:
    """Refuses a number below 1, or above the largest.

    >>> check_count("port", 9999, 65_535)
    """
    if number < 1 or (largest is not None and number > largest):
        possible = "1 or more" if largest is None else f"1 to {largest}"
        raise BindingError("WB442", f"{name} cannot be {number}", hint=f"give {possible}")
