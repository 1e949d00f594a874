"""A carryover made that of another plan: a changed query takes over the rows of its windows.

Rows are looked for by the expressions that their columns were made from. An input takes over those
of one over the same stream whose window holds all that it would hold, whose condition let all of
them in, and whose columns, or the columns of the stream among them, give its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.carryover.carryover import Carryover, follows_from_rows, places_of
from windrow.carryover.converted_rows import (
    DiffersError,
    InputPlace,
    conjuncts,
    converted_rows,
    plain_expression,
)
from windrow.carryover.positions import positions_for
from windrow.errors import CheckpointError
from windrow.plan.expressions import Call, Expr
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import QueryPlan, WindowSpec
from windrow.plan.show import show, show_list, show_window
from windrow.rows.prepare import Preparer
from windrow.rows.shape import shape_of
from windrow.schema import BOOLEAN
from windrow.windows.instants import NO_INSTANTS

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["fitted"]

_HINT = (
    "only a query over the same streams, windows, conditions and keys takes rows over; "
    "register this one anew, under another name"
)


def fitted(carried: Carryover, plan: RunnablePlan) -> Carryover:
    """The same as a carryover of this plan; refused where its windows do not agree with these."""
    if fingerprint(carried.plan) == fingerprint(plan):
        return _placed(_renamed(carried, plan), carried)
    _check_whole(carried, plan)
    _check_columns(carried, plan)
    old = [InputPlace(*each) for each in places_of(carried.plan)]
    new = [InputPlace(*each) for each in places_of(plan)]
    rows = {number: _rows_for(place, old, carried) for number, place in enumerate(new)}
    rows = {number: table for number, table in rows.items() if table.num_rows}
    streams = {name: carried.streams[name] for name in plan.streams}
    given = replace(carried, plan=plan, rows=rows, streams=streams, rows_in={}, set_aside={})
    given = _placed(given, carried)
    if set(plan.streams) == set(carried.plan.streams):
        return given
    return replace(given, due=_due(given))


def _placed(given: Carryover, before: Carryover) -> Carryover:
    """With the places of the sources in the order in which its plan reads them."""
    if before.positions is None:
        return given
    streams = before.plan.streams, given.plan.streams
    return replace(given, positions=positions_for(before.positions, before.name, *streams))


def _renamed(carried: Carryover, plan: RunnablePlan) -> Carryover:
    """Inputs may have other names in the text."""
    pairs = zip(carried.plan.inputs, plan.inputs, strict=True)
    names = {old.alias: new.alias for old, new in pairs}
    counts = [
        {names.get(name, name): count for name, count in each.items()}
        for each in (carried.rows_in, carried.set_aside)
    ]
    return replace(carried, plan=plan, rows_in=counts[0], set_aside=counts[1])


def _check_whole(carried: Carryover, plan: RunnablePlan) -> None:
    """Refuses what no rows can be taken over from, or by."""
    why = None
    if carried.shards or not follows_from_rows(carried.plan):
        why = "its windows do not hold all that its answers are made of"
    elif not follows_from_rows(plan):
        why = "the rows of windows do not say all that the new query needs"
    elif carried.is_combined:
        why = "its rows were combined for answers at its own ticks"
    elif carried.plan.duration != plan.duration:
        why = "DURATION is another one"
    elif plan.error_percent is not None:
        why = "a query with ERROR needs to know of all rows that came"
    elif not isinstance(plan, QueryPlan) and (plan.view_scans or plan.tables):
        why = "the new query reads a view or a table, whose rows belong to the session"
    others = [name for name in plan.streams if name not in carried.streams]
    if others:
        why = f"it did not read stream {others[0]!r}"
    if why is not None:
        raise _refused(carried, "WC425", why)


def _refused(carried: Carryover, code: str, why: str) -> CheckpointError:
    message = f"the state of query {carried.name!r} cannot go on as the query that is given: {why}"
    return CheckpointError(code, message, hint=_HINT)


def _check_columns(carried: Carryover, plan: RunnablePlan) -> None:
    """Refuses a column that has another type by now."""
    now = {entry.stream.name: entry.stream for entry in plan.inputs}
    for name, schema in now.items():
        then = carried.streams[name].schema
        if then.time != schema.time:
            why = f"the time of stream {name!r} was {then.time}, and is {schema.time} now"
            raise _refused(carried, "WC426", why)
        known = {column.name: column.type for column in then.columns}
        for column in schema.columns:
            kind = known.get(column.name, column.type)
            if kind != column.type:
                why = (
                    f"column {column.name} of stream {name!r} was {kind}, and is {column.type} now"
                )
                raise _refused(carried, "WC426", why)


def _rows_for(new: InputPlace, old: Sequence[InputPlace], carried: Carryover) -> pa.Table:
    """The rows that an input takes over."""
    same = [number for number, each in enumerate(old) if each.stream == new.stream]
    same.sort(key=lambda number: old[number].entry.alias != new.entry.alias)
    problems = []
    for number in same:
        try:
            _check_same(old[number], new)
            return converted_rows(carried.rows.get(number), old[number], new)
        except DiffersError as problem:
            problems.append(problem)
    raise _refused(carried, problems[0].code, str(problems[0]))


def _check_same(old: InputPlace, new: InputPlace) -> None:
    """Refuses an input that would hold rows which the old one does not."""
    then, now = old.entry, new.entry
    if not _holds_all_of(then.window, now.window):
        was, is_now = show_window(then.window, old.plan), show_window(now.window, new.plan)
        raise DiffersError("WC425", f"the window of {now.alias} was {was}, and is {is_now} now")
    lost = [each for each in conjuncts(then.filter) if each not in conjuncts(now.filter)]
    if now.window.traits.counts_rows and len(conjuncts(now.filter)) > len(conjuncts(then.filter)):
        lost = conjuncts(now.filter)
    if lost:
        was = "none" if then.filter is None else show(then.filter, old.plan)
        is_now = "none" if now.filter is None else show(now.filter, new.plan)
        why = f"the condition on {now.alias} was {was}, and is {is_now} now"
        raise DiffersError("WC425", why)
    keys = [
        {plain_expression(key) for key in shape_of(each.plan).inputs[each.number].keys}
        for each in (old, new)
    ]
    # Rows without a key match nothing, and are not there.
    if not all(_has_value(key, conjuncts(now.filter)) for key in keys[0] - keys[1]):
        was = show_list(then.keys, old.plan) or "none"
        is_now = show_list(now.keys, new.plan) or "none"
        why = f"the join key of {now.alias} was {was}, and is {is_now} now"
        raise DiffersError("WC425", why)


def _has_value(key: Expr, conditions: Sequence[Expr]) -> bool:
    """Whether the conditions leave out rows without this key."""
    return Call("not", (Call("is_null", (key,), BOOLEAN),), BOOLEAN) in conditions


def _holds_all_of(then: WindowSpec, now: WindowSpec) -> bool:
    """Whether all rows that a window holds are in the other one, too."""
    parts = [tuple(map(plain_expression, each.partition_by)) for each in (then, now)]
    if replace(then, partition_by=()) == replace(now, partition_by=()):
        return parts[0] == parts[1]
    is_shorter = (
        then.traits.has_width and not then.traits.closes and now.length_us <= then.length_us
    )
    return is_shorter and replace(then, length_us=now.length_us) == now


def _due(carried: Carryover) -> NDArray[np.int64]:
    """The instants at which answers are due, for rows that wait."""
    found = [NO_INSTANTS]
    for number, place in enumerate(InputPlace(*each) for each in places_of(carried.plan)):
        if carried.plan.answering[number]:
            times = carried.streams[place.stream].times
            found.append(Preparer(place.plan, place.number).instants(times))
    return np.unique(np.concatenate(found))
