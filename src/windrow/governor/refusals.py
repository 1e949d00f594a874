"""What is said when memory is not enough: for a query that is registered, and for rows."""

from __future__ import annotations

from windrow.errors import AdmissionError
from windrow.event_time import show_span
from windrow.governor.admission import Refused, Suggestion
from windrow.governor.tables import SECOND_US
from windrow.memory_size import show_memory

__all__ = ["not_admitted", "not_admitted_yet", "not_less", "not_taken", "outgrown"]

# So many clauses that would help are named.
SUGGESTIONS_NAMED = 3
# Spans of at least this many seconds are shown in whole seconds.
SECONDS_FROM = 20
MILLISECOND_US = 1_000


def not_admitted(query: str, refused: Refused, budget: int, code: str = "WA102") -> AdmissionError:
    """A query that cannot be served alongside the others; each kind of session has its own code."""
    least = _budget_for(refused, budget)
    return AdmissionError(
        code,
        f"query {query!r} cannot be served at any level: all queries together need "
        f"{show_memory(least)}, the budget is {show_memory(budget)}",
        hint=_advice(refused, least) + "; nothing was registered, and nothing else has changed",
    )


def not_admitted_yet(query: str, late_us: int, code: str = "WA102") -> AdmissionError:
    """A query for which windows that take turns would have to begin anew."""
    return AdmissionError(
        code,
        f"query {query!r} cannot be served now: a query at level C would have to wait "
        f"{_rounded(late_us, up=True)} longer than its EVERY, once",
        hint="register it again later, connect with more memory=, or stop a query; nothing was "
        "registered, and nothing else has changed",
    )


def not_less(held: int, budget: int, wanted: int, refused: Refused | None) -> AdmissionError:
    """A budget that is too small for what runs."""
    what = f"the windows hold {show_memory(held)}"
    if refused is not None:
        what = f"all queries together need {show_memory(_budget_for(refused, wanted))}"
    return AdmissionError(
        "WA103",
        f"the memory cannot be {show_memory(wanted)}: {what}",
        hint=f"stop a query, give one an ERROR, or give more memory; it is {show_memory(budget)} "
        "as before",
    )


def not_taken(held: int, budget: int, refused: Refused | None) -> AdmissionError:
    """Rows for which there is no room at any width that the queries allow."""
    advice = "connect with more memory=, stop a query, or shorten windows"
    if refused is not None:
        advice = _advice(refused, _budget_for(refused, budget))
    return AdmissionError(
        "WA101",
        f"these rows do not fit: the windows hold {show_memory(held)}, the budget is "
        f"{show_memory(budget)}, and growing arrays need extra memory",
        hint=(
            f"{advice}; the refused rows are counted as rejected, and answers that would have "
            "included them have the level 'incomplete'"
        ),
    )


def outgrown(held: int, budget: int, refused: Refused | None, beside: int = 0) -> AdmissionError:
    """Windows of a query on Spark that hold too much, at any width that the queries allow.

    beside: what of it continuous questions hold.
    """
    advice = "connect with more memory=, or shorten windows"
    what, of_it = "the windows hold", ""
    if beside:
        advice += ", or stop continuous questions with many groups"
        what = "windows and continuous questions hold"
        of_it = f" (questions {show_memory(beside)})"
    if refused is not None:
        advice = _advice(refused, _budget_for(refused, budget))
    return AdmissionError(
        "WA411",
        f"{what} {show_memory(held)}{of_it}, the budget is {show_memory(budget)}",
        hint=f"{advice}; with a checkpoint the query resumes where it stopped",
    )


def _budget_for(refused: Refused, budget: int) -> int:
    """The budget that would do: what is kept free for moving rows grows with it."""
    return int(refused.least_bytes * budget / refused.budget) + 1


def _advice(refused: Refused, least: int) -> str:
    parts = [f"connect with memory={show_memory(least)!r} or more"]
    parts += [_clause(each) for each in refused.suggestions[:SUGGESTIONS_NAMED]]
    return ", or ".join(parts)


def _rounded(span_us: int, *, up: bool) -> str:
    """A span for people: in whole seconds, or milliseconds where it is short; on the safe side."""
    unit = SECOND_US if span_us >= SECONDS_FROM * SECOND_US else MILLISECOND_US
    units = -(-span_us // unit) if up else span_us // unit
    return show_span(max(1, units) * unit)


def _clause(suggestion: Suggestion) -> str:
    demand = suggestion.demands[0]
    query = f"query {suggestion.query}"
    helps = "" if suggestion.fits else " (which helps, but does not suffice alone)"
    if suggestion.clause == "ERROR":
        missing = _rounded(demand.tolerance_us, up=True)
        return f"give {query} an ERROR that allows {missing} to be missing{helps}"
    if suggestion.clause == "EVERY":
        return f"give {query} an ERROR and EVERY ({_rounded(demand.delay_us, up=True)}){helps}"
    return f"shorten the range of {query} to {_rounded(demand.range_us, up=False)}{helps}"
