"""In what two plans differ, for people: one line for each fact that is another one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from windrow.event_time import show_instant, show_span
from windrow.plan.expressions import Expr
from windrow.plan.model import Negation, PlanInput, QueryPlan
from windrow.plan.show import show, show_list, show_window

__all__ = ["plan_differences"]


def plan_differences(before: QueryPlan, now: QueryPlan) -> list[str]:
    """Each fact as it was and as it is now; none for plans that mean the same rows."""
    was, is_now = _facts(_plainly_named(before)), _facts(_plainly_named(now))
    names = [*was, *(name for name in is_now if name not in was)]
    return [
        f"{name}: {was.get(name, 'none')}, now {is_now.get(name, 'none')}"
        for name in names
        if was.get(name) != is_now.get(name)
    ]


def _plainly_named(plan: QueryPlan) -> QueryPlan:
    """The plan with aliases that do not depend on the text: they mean nothing."""
    names = [entry.stream.name for entry in plan.inputs]
    counts, inputs = Counter(names), []
    for number, entry in enumerate(plan.inputs, start=1):
        name = entry.stream.name
        inputs.append(replace(entry, alias=name if counts[name] == 1 else f"{name} ({number})"))
    return replace(plan, inputs=tuple(inputs))


def _facts(plan: QueryPlan) -> dict[str, str]:
    facts = {"kind of query": f"{'distinct ' if plan.distinct else ''}{plan.kind}"}
    facts["inputs"] = ", ".join(entry.alias for entry in plan.inputs)
    for entry in plan.inputs:
        facts |= _input_facts(entry, plan)
    for negation in plan.negations:
        facts[f"negation of {plan.inputs[negation.input].alias}"] = _negation(negation, plan)
    for column in plan.select:
        shown = f"{show(column.expression, plan)} ({column.type})"
        facts[f"column {column.name}"] = shown
    facts["columns"] = ", ".join(column.name for column in plan.select)
    facts["GROUP BY"] = show_list(plan.group_by, plan) or "none"
    facts["HAVING"] = _shown(plan.having, plan)
    facts["condition between inputs"] = _shown(plan.residual, plan)
    facts["EVERY"] = "none" if plan.every_us is None else show_span(plan.every_us)
    facts["ERROR"] = "none" if plan.error_percent is None else f"{plan.error_percent:g}%"
    if plan.on_error != "fail":
        facts["ON ERROR"] = plan.on_error.replace("_", " ").upper()
    if plan.duration is not None:
        facts["DURATION"] = " to ".join(_moment(*each) for each in plan.duration)
    return facts


def _input_facts(entry: PlanInput, plan: QueryPlan) -> dict[str, str]:
    stream, name = entry.stream, entry.alias
    columns = ", ".join(f"{column.name} {column.type}" for column in stream.columns)
    return {
        f"window of input {name}": show_window(entry.window, plan),
        f"condition on input {name}": _shown(entry.filter, plan),
        f"join key of input {name}": show_list(entry.keys, plan) or "none",
        f"columns of stream {stream.name}": columns,
        f"time column of stream {stream.name}": stream.time,
        f"lateness of stream {stream.name}": show_span(stream.lateness_us),
    }


def _negation(negation: Negation, plan: QueryPlan) -> str:
    keys = f"({show_list(negation.keys, plan)}) = ({show_list(negation.of_keys, plan)})"
    return f"for {plan.inputs[negation.of].alias}, {keys}, {_shown(negation.residual, plan)}"


def _shown(expression: Expr | None, plan: QueryPlan) -> str:
    return "none" if expression is None else show(expression, plan)


def _moment(kind: str, value: int) -> str:
    return show_instant(value) if kind == "instant" else f"{value} seconds after the first row"
