"""An answer about the past as people read it: bounds only where it is not exact."""

from __future__ import annotations

import pyarrow as pa

from windrow.event_time import show_instant

__all__ = ["readable_past"]

_BORDERS = ("exact_from", "exact_to", "around_from", "around_to", "known_from", "known_to")


def readable_past(answer: pa.Table) -> tuple[pa.Table, str]:
    """The columns worth a look, and what is to be said of the rest."""
    names = answer.column_names
    borders = [name for name in _BORDERS if name in names]
    is_exact = all(answer.column("exact").to_pylist())
    if not is_exact:
        return answer.drop_columns(borders), f", estimates within hard bounds{_exact_part(answer)}"
    bounds = [
        name
        for name in names
        if name.removesuffix("_low").removesuffix("_high") in set(names) - {name}
    ]
    return answer.drop_columns([*bounds, *borders, "exact"]), ", exact"


def _exact_part(answer: pa.Table) -> str:
    """The nearest borders between which the answer would be exact."""
    since, until = (answer.column(name).to_pylist() for name in ("exact_from", "exact_to"))
    if not since or since[0] is None or until[0] is None:
        return ""
    first, last = (
        show_instant(answer.column(name)[0].value) for name in ("exact_from", "exact_to")
    )
    return f"; exact from {first} to {last}"
