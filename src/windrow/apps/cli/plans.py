"""The plans of a job on the screen."""

from __future__ import annotations

from windrow.apps.terminal.screen import Screen
from windrow.jobs.job import Job
from windrow.plan.explain_any import explain_any

__all__ = ["show_plans"]


def show_plans(
    screen: Screen,
    job: Job,
    *,
    explained_only: bool = False,
    rates: dict[str, float] | None = None,
    selectivity: float | None = None,
) -> None:
    """Prints the plans of EXPLAIN statements and, unless explained_only, those of all queries."""
    plans = [("", plan) for plan in job.explained]
    if not explained_only:
        plans += [(query.name, query.plan) for query in job.queries.values()]
        plans += [(question.name, question.plan) for question in job.questions.values()]
    for name, plan in plans:
        text = explain_any(plan, rates, selectivity)
        screen.event("plan", {"query": name or None, "text": text})
        if name:
            screen.line(f"{name}:", "bold")
        screen.text(text)
