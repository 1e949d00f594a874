"""The part of EXPLAIN that speaks of algorithms: what each would cost, which runs, and why."""

from __future__ import annotations

from windrow.plan.cost import Candidate, candidates, paper_visits
from windrow.plan.figures import Figures, assumed_figures
from windrow.plan.model import QueryPlan
from windrow.plan.update_pattern import keeps_results

__all__ = ["algorithm_lines", "algorithm_words"]

_HOW = {
    "factorised": "one state per key and input, no joined row is formed",
    "charged": "every joined row is charged to its row that expires first",
    "incremental": "joined rows are found when a row enters, and again when it leaves",
    "pipelined": "every joined row is held until one of its rows leaves",
}


def algorithm_lines(plan: QueryPlan, figures: Figures | None, running: str | None) -> list[str]:
    """The algorithm, and for a join the costs of all of them."""
    if keeps_results(plan):
        return [f"  algorithm   {how}" for how in _result_steps(plan)]
    if plan.kind == "select":
        return ["  algorithm   window scan: each row is filtered and projected once, O(1) per row"]
    known = (figures or assumed_figures(plan)).of_first(len(plan.joined))
    found = candidates(plan, known)
    chosen = running or (found[0].name if plan.algorithm == "auto" else plan.algorithm)
    if len(plan.joined) == 1:
        how = "one state per group, O(1) per row" if chosen == "factorised" else _how(chosen)
        return [f"  algorithm   {chosen}: {how}"]
    why = "the cheapest" if plan.algorithm == "auto" else "asked for"
    if plan.algorithm not in ("auto", chosen):
        why = f"as {plan.algorithm} cannot handle the values that arrived"
    lines = [f"  algorithm   {chosen}, {why}: {_how(chosen)}", _figures_line(plan, known)]
    lines += [_candidate_line(each, each.name in chosen) for each in found]
    if len(plan.joined) == 2:
        third, sixth = paper_visits(known)
        lines.append(
            f"  paper       rows touched per arrival: incremental (3) {_number(third)}, "
            f"charged (6) {_number(sixth)}"
        )
    held = "held" if chosen == "pipelined" else "not materialised"
    lines.append(f"  pairs       about {_number(known.joined)} joined rows, {held}")
    return lines


def algorithm_words(plan: QueryPlan, running: str | None = None) -> str:
    """The algorithm of a block and what it does, in one line; running: the one that runs now."""
    if plan.kind == "select":
        return "; ".join(_result_steps(plan)) or "window scan: O(1) per row"
    known = assumed_figures(plan).of_first(len(plan.joined))
    chosen = running or candidates(plan, known)[0].name
    if len(plan.joined) == 1 and chosen == "factorised":
        return f"{chosen}: one state per group, O(1) per row"
    return f"{chosen}, the cheapest: {_how(chosen)}"


def _result_steps(plan: QueryPlan) -> list[str]:
    steps = []
    if plan.negations:
        steps.append("negation: rows with a match are held back until it leaves")
    if len(plan.joined) > 1:
        steps.append("join: joined rows are found when a row enters, and kept by their expiry")
    if plan.distinct:
        steps.append("distinct: of equal rows one is kept, until the last of them ends")
    return steps


def _how(chosen: str) -> str:
    """What the algorithm does; shards of a query may each have chosen their own."""
    return "; ".join(_HOW[name] for name in chosen.split(" and "))


def _figures_line(plan: QueryPlan, figures: Figures) -> str:
    inputs = ", ".join(
        f"{entry.alias} {_number(rate)} rows/s, {_number(rows)} held"
        for entry, rate, rows in zip(plan.joined, figures.rates, figures.held, strict=True)
    )
    kept = f", {figures.kept:.2%} kept by the condition" if plan.residual is not None else ""
    return (
        f"  figures     {figures.origin}: {inputs}; "
        f"{_number(figures.matches)} matches per arriving row{kept}"
    )


def _candidate_line(candidate: Candidate, is_chosen: bool) -> str:
    mark = "*" if is_chosen else " "
    head = f"   {mark} {candidate.name:<12}"
    if candidate.reason is not None:
        return f"{head}cannot run: {candidate.reason}"
    return (
        f"{head}{_time(candidate.nanoseconds):>9} and {_number(candidate.bytes):>7} bytes per row"
    )


def _time(nanoseconds: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"
