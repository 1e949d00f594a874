"""The windows of queries on Spark as the governor sees them: what they take, what is asked of them.

Everything comes from the reports of a query's last batch, summed over its buckets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from windrow.event_time import START_OF_TIME
from windrow.governor.demands import demand_of
from windrow.governor.figures import active_demands
from windrow.governor.governed_input import GovernedInput, width_us_of
from windrow.governor.measured_rates import measured_rate
from windrow.governor.measured_window import MeasuredWindow
from windrow.governor.service_rows import query_rows, window_rows
from windrow.governor.tables import Demand, Turn, WidthGiven
from windrow.governor.window_table import QueryRow, WindowRow
from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
from windrow.rows.life import life_of
from windrow.runtime.shard import Shard
from windrow.runtime.tables.table_store import TableStore
from windrow.runtime.trees.tree_shard import TreeShard
from windrow.schema import BIGINT, Column
from windrow.service_levels import UNMET
from windrow.spark.monitoring.status import QueryStatus
from windrow.spark.worker.window_report import RECENT_PARTS, WindowReport, window_reports
from windrow.table_schema import TableSchema
from windrow.windows.lifetime import Lifetime

__all__ = ["GovernedQuery", "SparkInput", "query_rows_of", "window_rows_of", "windows_of"]


class GovernedQuery(Protocol):
    """What the governor asks of a query."""

    name: str
    plan: RunnablePlan

    @property
    def status(self) -> QueryStatus:
        """The reports of the last batch."""

    def tolerated_span_us(self) -> int:
        """How much narrower the window may be for answers within the tolerated error."""

    def rows_per_second(self, span_us: int) -> float:
        """Rows of a query with ERROR that came within a span, held by a window or not."""

    def ordered_lifetime(self, input_index: int) -> Lifetime:
        """How long rows of an input stay, once all orders have reached the shards."""

    @property
    def has_pending_order(self) -> bool:
        """Whether an order has not reached the shards yet."""

    def order(self, lifetimes: Mapping[int, Lifetime]) -> None:
        """Let rows stay so long from the next batch on."""


@dataclass(frozen=True)
class SparkInput(GovernedInput):
    """An input of a query on Spark: orders reach its shards with the next batch."""

    query: GovernedQuery
    plan: RunnablePlan

    @property
    def window_name(self) -> str:
        """As people read it; no other query reads the window."""
        return f"{self.query_name}.{self.alias}"

    @property
    def algorithm(self) -> str:
        """What keeps the answer now, in all buckets."""
        return " and ".join(self.query.status.algorithms)

    @property
    def life(self) -> tuple[int, int] | None:
        """First and last instant of the query; None while they are not known."""
        return life_of(self.plan, self.query.status.first_us)

    def tolerated_span_us(self) -> int:
        """How much narrower the window may be for answers within the tolerated error."""
        return self.query.tolerated_span_us()

    @property
    def lifetime(self) -> Lifetime:
        """How long rows stay in the shards."""
        return self.query.status.limits.lifetime(self.plan, self.input_index)

    @property
    def ordered_lifetime(self) -> Lifetime:
        """How long rows stay once all orders have reached the shards."""
        return self.query.ordered_lifetime(self.input_index)

    @property
    def narrows_from_us(self) -> int:
        """At once: where a shard stands when an order reaches it, the shard knows."""
        return START_OF_TIME

    def may_change(self, at_us: int) -> bool:
        """Whether it tolerates an error and is alive at the instant."""
        if self.plan.error_percent is None:
            return False
        return bool(active_demands([demand_of(self.window_name, self)], at_us))

    def order(self, lifetime: Lifetime) -> None:
        """Let rows stay for that long, from the next batch on."""
        self.query.order({self.input_index: lifetime})


def windows_of(query: GovernedQuery) -> list[MeasuredWindow]:
    """The windows of a query; before its first batch they are as large as empty ones."""
    reports = query.status.windows
    if not any(report.capacity for report in reports):
        plan = query.plan
        shard = _empty_tree(plan) if isinstance(plan, TreePlan) else Shard(plan)
        reports = [replace(each, bytes=each.column_bytes) for each in window_reports(shard)]
    return [_measured(query, report) for report in reports]


def _empty_tree(plan: TreePlan) -> TreeShard:
    """The tree before any row has come; which columns tables without rows have does not matter."""
    nothing = TableStore(TableSchema("nothing", (Column("key", BIGINT),), "", key=("key",)))
    return TreeShard(plan, tables=dict.fromkeys(plan.own_tables, nothing))


def window_rows_of(queries: Iterable[GovernedQuery]) -> list[WindowRow]:
    """Rows of session.windows()."""
    return window_rows((window for query in queries for window in windows_of(query)), _level)


def query_rows_of(queries: Iterable[GovernedQuery]) -> list[QueryRow]:
    """Rows of session.queries()."""
    return query_rows((window for query in queries for window in windows_of(query)), _level)


def _measured(query: GovernedQuery, report: WindowReport) -> MeasuredWindow:
    read = SparkInput(query.name, query.plan, report.position, query)
    other_bytes = report.bytes - report.column_bytes
    slot_bytes, fixed_bytes = report.column_bytes / max(1, report.capacity), float(other_bytes)
    if report.rows >= RECENT_PARTS and query.status.algorithms != ["factorised"]:
        # Indexes and slots are for each row; codes and sums of the others are for each key.
        slot_bytes, fixed_bytes = slot_bytes + other_bytes / report.rows, 0.0
    average, recent = _rates(read, report)
    return MeasuredWindow(
        name=read.window_name,
        inputs=(read,),
        rows=report.rows,
        bytes=report.bytes,
        slot_bytes=slot_bytes,
        fixed_bytes=fixed_bytes + report.waiting * slot_bytes,
        rate=max(average, recent),
        average_rate=average,
        span_us=max(0, report.newest_us - report.oldest_us),
    )


def _rates(read: SparkInput, report: WindowReport) -> tuple[float, float]:
    """Rows a second, as memory is foreseen by them: over the time covered, and lately."""
    query, range_us = read.query, read.range_us
    if read.plan.error_percent is not None:
        # Of a window that is narrow most of the time, what it holds says little.
        part_us = range_us // RECENT_PARTS
        return query.rows_per_second(range_us), query.rows_per_second(part_us)
    clock_us = query.status.clock_us
    if report.rows < 2 or clock_us is None:
        return 0.0, 0.0
    average = measured_rate(report.rows, report.newest_us - report.oldest_us, range_us)
    part_us = min(read.lifetime.hold_us // RECENT_PARTS, clock_us - report.oldest_us)
    return average, measured_rate(report.recent, part_us, range_us)


def _level(read: GovernedInput, demand: Demand) -> str:
    """How a query is served by the window as it is: what was decided may not have reached it."""
    if not read.has_width:
        return "A"
    lifetime, turn = read.lifetime, None
    if lifetime.turn_growth_us:
        numbers = (lifetime.turn_period_us, lifetime.turn_start_us, lifetime.turn_growth_us)
        turn = Turn(0, *numbers)
    found = WidthGiven(demand.window, width_us_of(lifetime), turn).level(demand)
    return UNMET if found == "none" else found
