"""Splitting: which keys of a query are hot, as a user says it, checked and made into a routing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.errors import BindingError, UnsupportedError
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.plan.model import QueryPlan
from windrow.plan.nearest import nearest
from windrow.plan.partitioning import partitioning
from windrow.rows.prepare import lifetime_of, mixed_words
from windrow.spark.shuffle.routing import NO_ROUTING, HotKey, Routing

__all__ = ["Split", "routing_with", "shown_key", "since_us", "split_refusal"]

# Per alias of FROM the keys whose rows of this input are spread: values, or tuples of them.
Split = Mapping[str, Iterable[Any]]


def routing_with(
    plan: QueryPlan,
    split: Split,
    known: Routing = NO_ROUTING,
    complete_us: Mapping[str, int] | None = None,
) -> Routing:
    """The routing with these keys added.

    complete_us: how far the streams of a query that has begun are complete; None for a new one.
    """
    keys = list(known.keys)
    for alias, values in split.items():
        input_index = _input_of(plan, alias)
        from_us = since_us(plan, input_index, complete_us)
        for value in values:
            word = _word(plan, input_index, value)
            _check_other_inputs(plan, keys, input_index, word)
            if all(key.word != word for key in keys):
                keys.append(HotKey(input_index, word, shown_key(value), from_us))
    return Routing(tuple(keys))


def split_refusal(plan: QueryPlan, input_index: int) -> str | None:
    """Why rows of one key of this input must stay in one bucket; None where they need not."""
    found, entry = partitioning(plan), plan.inputs[input_index]
    if found.kind == "one":
        return f"one bucket sees all rows: {found.reason}"
    if found.kind == "any":
        return "its rows already go to any bucket"
    if any(not aggregate.traits.laws.is_mergeable for aggregate in plan.aggregates):
        return "COUNT(DISTINCT) needs all rows of a key in one bucket"
    if entry.window.traits.counts_rows:
        return f"{entry.alias} counts the rows of each PARTITION BY"
    if input_index >= len(plan.joined):
        return f"{entry.alias} is negated, so all its rows must meet all others of a key"
    return None


def shown_key(value: Any) -> str:
    """A key as people read it."""
    parts = value if isinstance(value, tuple) else (value,)
    return ", ".join("NULL" if part is None else str(part) for part in parts)


def _input_of(plan: QueryPlan, alias: str) -> int:
    aliases = [entry.alias for entry in plan.inputs]
    found = [place for place, each in enumerate(aliases) if each.lower() == str(alias).lower()]
    if not found:
        guess = nearest(str(alias), aliases)
        hint = f"did you mean {guess!r}?" if guess else f"its inputs are: {', '.join(aliases)}"
        raise BindingError("WB460", f"split names {alias!r}, which is not an input", hint=hint)
    reason = split_refusal(plan, found[0])
    if reason is not None:
        raise UnsupportedError(
            "WU460",
            f"the rows of one key of {alias!r} cannot be spread over buckets: {reason}",
            hint="start the query without split",
        )
    return found[0]


def since_us(plan: QueryPlan, input_index: int, complete_us: Mapping[str, int] | None) -> int:
    """From when on rows may be spread: none that came without copies is in a window then."""
    if complete_us is None:
        return START_OF_TIME
    since = START_OF_TIME
    for other, entry in enumerate(plan.inputs):
        if other == input_index:
            continue
        lifetime = lifetime_of(entry.window)
        if lifetime.is_endless:
            raise UnsupportedError(
                "WU461",
                f"a query that has run cannot be split: rows of {entry.alias!r} do not expire by "
                "time, and the earlier ones are in one bucket",
                hint="start it with split= under another name",
            )
        complete = complete_us[entry.stream.name]
        if complete == START_OF_TIME:
            continue
        newest = min(complete + entry.stream.lateness_us + 1, END_OF_TIME)
        since = max(since, int(lifetime.leave(np.array([newest]))[0]))
    return since


def _word(plan: QueryPlan, input_index: int, value: Any) -> int:
    types = [part.type.arrow for part in partitioning(plan).keys[input_index]]
    values = value if isinstance(value, tuple) else (value,)
    try:
        columns = [pa.array([each], kind) for each, kind in zip(values, types, strict=True)]
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        wanted = ", ".join(map(str, types))
        raise BindingError(
            "WB461",
            f"{value!r} is not a key of {plan.inputs[input_index].alias!r}",
            hint=(
                f"rows are partitioned by a key of type {wanted}; give a tuple for several columns"
            ),
        ) from None
    return int(mixed_words(columns)[0])


def _check_other_inputs(plan: QueryPlan, keys: list[HotKey], input_index: int, word: int) -> None:
    for key in keys:
        if key.word == word and key.position != input_index:
            raise BindingError(
                "WB462",
                f"key {key.shown} is already split for {plan.inputs[key.position].alias!r}",
                hint="the rows of a key can be spread for one input only",
            )
