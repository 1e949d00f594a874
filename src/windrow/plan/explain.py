"""A plan as text for people: what is read, held, joined and answered, and by which algorithm."""

from __future__ import annotations

from windrow.event_time import show_instant, show_span
from windrow.plan.explain_costs import algorithm_lines
from windrow.plan.figures import Figures
from windrow.plan.model import Negation, PlanInput, QueryPlan, WindowSpec
from windrow.plan.partitioning import partitioning
from windrow.plan.row_bytes import row_bytes
from windrow.plan.show import show, show_aggregate, show_list, show_window
from windrow.plan.stores import store_of
from windrow.plan.update_pattern import update_pattern

__all__ = ["due", "explain"]

_COUNTS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


def explain(plan: QueryPlan, figures: Figures | None = None, running: str | None = None) -> str:
    """The plan, one fact a line.

    figures: what is known of the streams, guessed where nothing is; running: the algorithm that a
    running query uses now.
    """
    lines = [_headline(plan)]
    for input_index, entry in enumerate(plan.inputs):
        lines += _input_lines(plan, input_index, entry)
    if plan.residual is not None:
        lines.append(f"  condition   {show(plan.residual, plan)}, for each joined row")
    lines += _answer_lines(plan)
    lines += algorithm_lines(plan, figures, running)
    return "\n".join(lines)


def _headline(plan: QueryPlan) -> str:
    what = "distinct rows" if plan.distinct else plan.kind
    negated = f", {_COUNTS[len(plan.negations)]} negated" if plan.negations else ""
    if len(plan.joined) == 1:
        return f"{what} over one window{negated}"
    count = _COUNTS[len(plan.joined)]
    kind = "an equi-join" if any(entry.keys for entry in plan.joined) else "all combinations"
    return f"{what} over {kind} of {count} windows{negated}"


def _input_lines(plan: QueryPlan, input_index: int, entry: PlanInput) -> list[str]:
    name = entry.stream.name
    alias = f" as {entry.alias}" if entry.alias != name else ""
    negation = next((each for each in plan.negations if each.input == input_index), None)
    negated = "" if negation is None else f" negated: {_match(plan, negation)}"
    lines = [f"  input {name}{alias} {show_window(entry.window, plan)}{negated}"]
    if entry.filter is not None:
        lines.append(f"    where     {show(entry.filter, plan)}")
    if entry.keys:
        lines.append(f"    join key  {show_list(entry.keys, plan)}")
    held = row_bytes(plan, input_index)
    lines.append(
        f"    memory    about {held} bytes for each row {_extent(entry.window)}"
        if held
        else "    memory    no row is held: none ever leaves"
    )
    return lines


def _match(plan: QueryPlan, negation: Negation) -> str:
    """What keeps a row out, as one condition."""
    pairs = zip(negation.of_keys, negation.keys, strict=True)
    parts = [f"{show(left, plan)} = {show(right, plan)}" for left, right in pairs]
    if negation.residual is not None:
        shown = show(negation.residual, plan)
        parts.append(f"({shown})" if parts and " OR " in shown else shown)
    what = f"rows of {plan.inputs[negation.of].alias} count while no row has "
    return what + " AND ".join(parts) if parts else "rows count while it has no row"


def _extent(window: WindowSpec) -> str:
    if window.traits.is_endless:
        return "that passes, growing without limit"
    return "in the window"


def _answer_lines(plan: QueryPlan) -> list[str]:
    lines: list[str] = []
    if plan.aggregates:
        named = ", ".join(dict.fromkeys(show_aggregate(part, plan) for part in plan.aggregates))
        lines.append(f"  aggregates  {named}")
    if plan.group_by:
        lines.append(f"  group by    {show_list(plan.group_by, plan)}")
    if plan.having is not None:
        lines.append(f"  having      {show(plan.having, plan)}")
    columns = ", ".join(f"{column.name} {column.type}" for column in plan.select)
    pattern, meaning = update_pattern(plan)
    every = f"every {show_span(plan.every_us)} of event time" if plan.every_us else due(plan.closes)
    return [
        *lines,
        f"  columns     {columns}",
        f"  answers     {every}",
        *_service_lines(plan),
        f"  updates     {pattern}: {meaning}",
        *([] if plan.kind == "aggregate" else [f"  store       {': '.join(store_of(plan))}"]),
        f"  buckets     {_buckets(plan)}",
    ]


def due(closes: tuple[int, int] | None) -> str:
    """When answers are due without EVERY."""
    if closes is None:
        return "at every arrival"
    return f"when a window closes, every {show_span(closes[0])}"


def _service_lines(plan: QueryPlan) -> list[str]:
    lines = []
    if plan.error_percent is not None:
        delay = f", at least every {show_span(plan.every_us)}" if plan.every_us else ""
        lines.append(f"  error       up to {plan.error_percent:g}% when memory is short{delay}")
    if plan.on_error != "fail":
        lines.append(f"  on error    {on_error_words(plan.on_error)}")
    if plan.duration is not None:
        begin, end = (_moment(*each) for each in plan.duration)
        lines.append(f"  life        from {begin} to {end}")
    return lines


def on_error_words(policy: str) -> str:
    """What becomes of an expression without a value."""
    if policy == "null":
        return "NULL: what has no value is NULL"
    return "SET ASIDE: the row is left out, counted and kept for a look"


def _moment(kind: str, value: int) -> str:
    return show_instant(value) if kind == "instant" else f"{value} seconds after the first row"


def _buckets(plan: QueryPlan) -> str:
    found = partitioning(plan)
    if found.kind == "key":
        shown = " = ".join(f"({show_list(keys, plan)})" for keys in found.keys)
        return f"by {shown}: {found.reason}"
    return f"{'one bucket' if found.kind == 'one' else 'any'}: {found.reason}"
