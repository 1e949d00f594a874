"""Which queries can run in one operator, and what that operator carries of their streams.

Queries of a bundle read the same streams, so that they have one clock, and are partitioned by the
same keys, so that one bucket has all rows that any of them needs together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from windrow.plan.expressions import ColumnRef, Expr, walk
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import OutputColumn, PlanInput, QueryPlan, WindowSpec
from windrow.plan.partitioning import partitioning
from windrow.rows.shared_rows import of_one_input
from windrow.schema import StreamSchema
from windrow.spark.shuffle.columns import columns_read
from windrow.window_kinds import TIME

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = [
    "Columns",
    "SharedPartitioning",
    "carried_columns",
    "carrier_of",
    "keeping",
    "needed_us",
    "shared_partitioning",
    "wider",
]

# A key in the words of each stream that it is read from.
Key = frozenset[tuple[str, Expr]]
Columns = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class SharedPartitioning:
    """The streams of a query, by name, and keys of which any one or more keep its rows together.

    No keys: its rows may go anywhere.
    """

    streams: tuple[StreamSchema, ...]
    keys: frozenset[Key]

    def shared_with(self, other: SharedPartitioning) -> SharedPartitioning | None:
        """How both can be partitioned at once; None: they cannot."""
        if self.streams != other.streams:
            return None
        if not self.keys or not other.keys:
            return replace(self, keys=self.keys or other.keys)
        common = self.keys & other.keys
        return replace(self, keys=common) if common else None

    def serves(self, other: SharedPartitioning) -> bool:
        """Whether rows that are partitioned by all of these keys are right for the other query."""
        if self.streams != other.streams:
            return False
        return not other.keys or (bool(self.keys) and self.keys <= other.keys)

    @property
    def fingerprint(self) -> str:
        """A text that is equal for what is partitioned alike."""
        return fingerprint(carrier_of(self, {}))


def shared_partitioning(plan: RunnablePlan) -> SharedPartitioning | str:
    """How a query may be partitioned with others, or why it needs an operator of its own."""
    if not isinstance(plan, QueryPlan):
        return "it is a tree of relations"
    reasons = {
        "its windows are governed (ERROR)": plan.error_percent is not None,
        "it has its own lifetime (DURATION)": plan.duration is not None,
        "it negates an input": bool(plan.negations),
        "its rows are set aside where they are packed (ON ERROR)": plan.on_error == "set_aside",
    }
    reason = next((each for each, holds in reasons.items() if holds), None)
    if reason is not None:
        return reason
    for entry in plan.inputs:
        if not entry.window.traits.has_width:
            return f"the window of {entry.alias} is not a time window"
        if entry.window.traits.closes:
            return f"windows of {entry.alias} close when its streams end"
    found = partitioning(plan)
    if found.kind == "one":
        return found.reason
    schemas = {entry.stream.name: entry.stream for entry in plan.inputs}
    streams = tuple(schemas[name] for name in sorted(schemas))
    if found.kind == "any":
        return SharedPartitioning(streams, frozenset())
    keys = frozenset(filter(None, (_key(plan, each) for each in zip(*found.keys, strict=True))))
    if not keys:
        return "a stream that it reads twice is partitioned by two keys"
    return SharedPartitioning(streams, keys)


def _key(plan: QueryPlan, parts: tuple[Expr, ...]) -> Key | None:
    """A key by stream; None where two inputs on one stream have different ones."""
    pairs = zip(plan.inputs, parts, strict=True)
    key = frozenset((entry.stream.name, of_one_input(part)) for entry, part in pairs)
    return key if len(key) == len(plan.streams) else None


def carrier_of(partitioning: SharedPartitioning, columns: Columns) -> QueryPlan:
    """What an operator carries: a plan with one input, of these columns, for each stream.

    Its keys partition rows; how long rows stay in its windows depends on the queries.
    """
    ordered = sorted(partitioning.keys, key=lambda key: sorted(map(repr, key)))
    inputs, select = [], []
    for input_index, stream in enumerate(partitioning.streams):
        keys = tuple(dict(key)[stream.name] for key in ordered)
        variables = tuple(range(len(keys)))
        inputs.append(PlanInput(stream, stream.name, WindowSpec(TIME.name), None, keys, variables))
        for name in columns.get(stream.name, ()):
            kind = stream.column(name).type
            select.append(OutputColumn(name, ColumnRef(input_index, name, kind), kind))
    return QueryPlan("", "select", tuple(inputs), tuple(select))


def keeping(carrier: QueryPlan, kept_us: Iterable[int]) -> QueryPlan:
    """The carrier with windows that are so long."""
    inputs = tuple(
        replace(entry, window=WindowSpec(TIME.name, length_us))
        for entry, length_us in zip(carrier.inputs, kept_us, strict=True)
    )
    return replace(carrier, inputs=inputs)


def needed_us(plans: Iterable[QueryPlan], stream: str) -> int:
    """How long a row of a stream may be needed, a step of a sliding window included."""
    windows = [
        entry.window for plan in plans for entry in plan.inputs if entry.stream.name == stream
    ]
    return max((window.length_us + window.slide_us for window in windows), default=0)


def wider(
    columns: Columns, partitioning: SharedPartitioning, plans: Iterable[QueryPlan]
) -> Columns:
    """Columns by stream: its time, those of its keys, and others that the plans read."""
    names = {
        stream.name: dict.fromkeys(columns.get(stream.name, (stream.time,)))
        for stream in partitioning.streams
    }
    for stream_name, expression in (part for key in partitioning.keys for part in key):
        leaves = [leaf for leaf in walk(expression) if isinstance(leaf, ColumnRef)]
        names[stream_name].update(dict.fromkeys(leaf.column for leaf in leaves))
    for plan in plans:
        for stream in plan.streams:
            names[stream].update(dict.fromkeys(columns_read(plan, stream)))
    return {stream: tuple(listed) for stream, listed in names.items()}


def carried_columns(carrier: QueryPlan, input_index: int) -> tuple[str, ...]:
    """The columns of an input's stream that a carrier has, its time first."""
    return tuple(
        part.expression.column
        for part in carrier.select
        if isinstance(part.expression, ColumnRef) and part.expression.source == input_index
    )
