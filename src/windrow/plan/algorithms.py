"""Which algorithms can run a plan, and why the others cannot.

All give the same answers; a query asks for one by name, or leaves the choice to 'auto'.
"""

from __future__ import annotations

from dataclasses import replace

from windrow.errors import UnsupportedError
from windrow.plan.factorisation import factorisation
from windrow.plan.model import SEVERAL, QueryPlan
from windrow.plan.nearest import no_such
from windrow.plan.update_pattern import keeps_results

__all__ = ["ALGORITHMS", "check_algorithm", "reasons_against", "with_algorithm"]

ALGORITHMS = ("pipelined", "incremental", "charged", "factorised")
_ASKED = ("auto", *ALGORITHMS)


def check_algorithm(algorithm: str) -> None:
    """Refuses names that no algorithm has."""
    if algorithm not in _ASKED:
        raise no_such("WB252", "algorithm", algorithm, _ASKED)


def with_algorithm(plan: QueryPlan, algorithm: str) -> QueryPlan:
    """The plan with the requested algorithm, which must be able to run it."""
    if algorithm != "auto":
        reasons = reasons_against(plan)
        reason = reasons[algorithm]
        if reason is not None:
            able = ["auto", *(name for name, against in reasons.items() if against is None)]
            raise UnsupportedError(
                "WU214",
                f"the algorithm {algorithm!r} cannot run this query: {reason}",
                hint=f"use {' or '.join(repr(name) for name in able)}",
            )
    return replace(plan, algorithm="scan" if plan.kind == "select" else algorithm)


def reasons_against(plan: QueryPlan) -> dict[str, str | None]:
    """For each algorithm why it cannot run the plan; None where it can."""
    if keeps_results(plan):
        reason = "it maintains aggregates, but this query keeps the joined rows themselves"
        return dict.fromkeys(ALGORITHMS, reason)
    if plan.kind == "select":
        reason = "a query without aggregates is a scan of its window"
        return {**dict.fromkeys(ALGORITHMS, reason), "factorised": None}
    pairs, negated = _against_pairs(plan), _against_negated(plan)
    return {
        "pipelined": pairs,
        "incremental": pairs or _against_incremental(plan),
        "charged": pairs or negated,
        "factorised": negated or _against_factorised(plan),
    }


def _against_pairs(plan: QueryPlan) -> str | None:
    for entry in plan.inputs:
        if entry.window.traits.is_endless:
            return f"it holds the rows of its windows, and none ever leaves {entry.alias}"
    return None


def _against_negated(plan: QueryPlan) -> str | None:
    for each in plan.negations:
        kept, alias = plan.inputs[each.of].alias, plan.inputs[each.input].alias
        return f"rows of {kept} are retracted while {alias} has a match, and return when it expires"
    return None


def _against_incremental(plan: QueryPlan) -> str | None:
    for aggregate in plan.aggregates:
        if not aggregate.traits.laws.is_invertible:
            name = aggregate.traits.sql_names[0]
            return f"a {name} cannot be retracted when its row leaves"
    return None


def _against_factorised(plan: QueryPlan) -> str | None:
    if _is_plain(plan):
        return None
    found = factorisation(plan)
    return found if isinstance(found, str) else None


def _is_plain(plan: QueryPlan) -> bool:
    """One window or two with sums of single inputs: kept per key, whatever the groups are."""
    return (
        len(plan.inputs) <= 2
        and plan.residual is None
        and SEVERAL not in plan.group_sources
        and all(
            aggregate.traits.laws.is_linear
            and (aggregate.argument is None or aggregate.source is not None)
            for aggregate in plan.aggregates
        )
    )
