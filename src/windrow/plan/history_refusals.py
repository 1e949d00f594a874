"""What a question about the past cannot be: by the shape of the query alone."""

from __future__ import annotations

from windrow.errors import BindingError, Place, UnsupportedError
from windrow.plan.windows import all_sources
from windrow.sql.statements import HistoryRange, Select

__all__ = ["check_history_shape", "history_range", "reads_history"]

_PAST = "session.ask() queries an interval that has ended"


def reads_history(select: Select) -> bool:
    """Whether any source of the query is a HISTORY."""
    return any(source.history is not None for source in all_sources(select))


def history_range(select: Select) -> HistoryRange:
    """The requested interval."""
    history = select.sources[0].history
    if history is None:
        raise BindingError(
            "WB331",
            "the query does not read a HISTORY",
            hint="write FROM HISTORY(s) [FROM '...' TO '...'], "
            "or register a query over a window with query()",
            place=select.sources[0].place,
        )
    return history


def check_history_shape(select: Select, *, continuous: bool) -> None:
    """Refuses clauses and joins that no question about the past has."""
    sources = all_sources(select)
    if len(sources) > 1 and reads_history(select):
        other = next((each for each in sources[1:]), sources[0])
        raise _refusal(
            "WU226",
            "HISTORY joined with anything",
            other.place,
            "query the HISTORY alone; a join reads windows",
        )
    asked = history_range(select)
    if select.distinct:
        raise _refusal(
            "WU228",
            "DISTINCT of HISTORY",
            select.places.get("SELECT"),
            "omit DISTINCT: GROUP BY returns each group once",
        )
    policy = None if select.on_error == "fail" else select.on_error
    clauses = (("ERROR", select.error_percent), ("DURATION", select.duration), ("ON ERROR", policy))
    for clause, given in clauses:
        if given is not None:
            raise _refusal(
                "WU227",
                f"{clause} with HISTORY",
                select.places.get(clause),
                "answers about the past have their own bounds and need no window memory",
            )
    if continuous:
        _check_continuous(asked, select)
    elif select.every_us is not None:
        raise BindingError(
            "WB338",
            "EVERY belongs to a continuous query, but this one runs once",
            hint="omit EVERY, or register the text with query()",
            place=select.places.get("EVERY"),
        )


def _check_continuous(asked: HistoryRange, select: Select) -> None:
    place = asked.place or select.sources[0].place
    if asked.until_us is not None:
        raise BindingError(
            "WB339",
            "a continuous query of HISTORY needs TO NOW, but this interval ends",
            hint=f"write TO NOW; {_PAST}",
            place=place,
        )
    if asked.at_us is not None:
        raise _refusal(
            "WU229",
            "AT in a continuous query of HISTORY",
            place,
            "omit AT: new rows are known one by one",
        )


def _refusal(code: str, what: str, place: Place | None, hint: str) -> UnsupportedError:
    return UnsupportedError(code, f"{what} is not supported", hint=hint, place=place)
