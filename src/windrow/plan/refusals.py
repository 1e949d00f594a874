"""What the language has and nothing runs yet: refused here, by the shape of the query alone."""

from __future__ import annotations

from windrow.errors import Place, UnsupportedError
from windrow.sql.statements import Select, Source

__all__ = ["MAX_INPUTS", "check_shape", "refusal"]

# Every probe of a join walks the other windows one after the other.
MAX_INPUTS = 6


def check_shape(select: Select) -> None:
    """Refuses clauses and joins that no part of the engine runs."""
    for source in select.sources:
        _check_source(source)
    if len(select.sources) > MAX_INPUTS:
        raise refusal(
            "WU201",
            f"a join of {len(select.sources)} windows",
            select.sources[MAX_INPUTS].place,
            f"join at most {MAX_INPUTS} windows",
        )
    if select.not_exists:
        raise refusal(
            "WU207", "NOT EXISTS", _clause(select, "NOT EXISTS") or _clause(select, "WHERE")
        )
    if select.distinct:
        hint = "GROUP BY the columns gives each combination once"
        place = _clause(select, "DISTINCT") or _clause(select, "SELECT")
        raise refusal("WU203", "SELECT DISTINCT", place, hint)
    _check_service(select)


def _check_source(source: Source) -> None:
    if source.history is not None:
        raise refusal("WU211", "HISTORY", source.history.place or source.place)
    if source.join == "anti":
        raise refusal("WU206", "LEFT ANTI JOIN", source.place)


def _check_service(select: Select) -> None:
    if select.error_percent is not None:
        hint = "without ERROR the answers are exact"
        raise refusal("WU212", "the ERROR clause", _clause(select, "ERROR"), hint)
    if select.duration is not None:
        hint = "without DURATION the query lives until it is stopped"
        raise refusal("WU213", "the DURATION clause", _clause(select, "DURATION"), hint)


def refusal(code: str, what: str, place: Place | None, hint: str | None = None) -> UnsupportedError:
    """Right WQL that nothing runs yet."""
    return UnsupportedError(code, f"{what} is not run yet", hint=hint, place=place)


def _clause(select: Select, name: str) -> Place | None:
    return select.places.get(name)
