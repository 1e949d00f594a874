"""One window of one query on Spark as the governor sees it: what it takes, and what is asked of it.

Everything comes from the reports of the query's last batch, summed over its buckets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.governor.measured_rates import is_measured, measured_rate
from windrow.governor.tables import SECOND_US, Demand, Turn, WidthGiven, WindowState
from windrow.governor.window_table import QueryRow, WindowRow
from windrow.plan.model import QueryPlan
from windrow.plan.service import can_have_error
from windrow.rows.life import life_of
from windrow.rows.prepare import lifetime_of
from windrow.runtime.shard import Shard
from windrow.service_levels import UNMET
from windrow.spark.monitoring.status import QueryStatus
from windrow.spark.worker.window_report import RECENT_PARTS, WindowReport, window_reports
from windrow.windows.lifetime import Lifetime
from windrow.windows.row_store import SPARE_PARTS

__all__ = ["GovernedQuery", "GovernedWindow", "windows_of"]


class GovernedQuery(Protocol):
    """What the governor asks of a query."""

    name: str
    plan: QueryPlan

    @property
    def status(self) -> QueryStatus:
        """The reports of the last batch."""

    def tolerated_span_us(self) -> int:
        """How much narrower the window may be for answers within the tolerated error."""

    def rows_per_second(self, span_us: int) -> float:
        """Rows of a query with ERROR that came within a span, held by a window or not."""

    def ordered_lifetime(self, position: int) -> Lifetime:
        """How long rows of an input stay, once all orders have reached the shards."""

    @property
    def has_pending_order(self) -> bool:
        """Whether an order has not reached the shards yet."""

    def order(self, lifetimes: Mapping[int, Lifetime]) -> None:
        """Let rows stay so long from the next batch on."""


@dataclass(frozen=True)
class GovernedWindow:
    """The window of the input at `position`."""

    query: GovernedQuery
    position: int
    report: WindowReport

    @property
    def name(self) -> str:
        """As people read it."""
        return f"{self.query.name}.{self.query.plan.inputs[self.position].alias}"

    @property
    def stream(self) -> str:
        """Whose rows it holds."""
        return self.query.plan.inputs[self.position].stream.name

    @property
    def is_timed(self) -> bool:
        """Whether it has a width."""
        return self.query.plan.inputs[self.position].window.kind in ("time", "slide")

    @property
    def is_filtered(self) -> bool:
        """Whether it holds only some of the stream's rows."""
        return self.query.plan.inputs[self.position].filter is not None

    @property
    def lifetime(self) -> Lifetime:
        """How long rows stay in the shards."""
        return self.query.status.limits.lifetime(self.query.plan, self.position)

    def state(self, *, is_average: bool = False) -> WindowState:
        """The row of the governor's table: by the rate of late if it is higher, or the average."""
        average, recent = self._rates()
        rate = average if is_average else max(average, recent)
        return WindowState(self.name, self.row_bytes, rate, _width_us(self.lifetime))

    def rate_for(self, range_us: int, is_average: bool) -> float:
        """Rows a second, as far as they tell something of a window of this range."""
        report = self.report
        if not is_measured(max(0, report.newest_us - report.oldest_us), range_us):
            return measured_rate(report.rows, 0, range_us)
        return self.state(is_average=is_average).rate

    @property
    def row_bytes(self) -> float:
        """Bytes of a row with its part of the spare room."""
        return self._slot_bytes() * (1 + 1 / SPARE_PARTS)

    @property
    def fixed_bytes(self) -> float:
        """What no width changes: rows that wait, and what is kept for each key."""
        beside = 0 if self._grows_beside else self.report.bytes - self.report.column_bytes
        return beside + self.report.waiting * self._slot_bytes()

    @property
    def _grows_beside(self) -> bool:
        """Whether what is beside the columns grows with the rows, as indexes and slots do."""
        is_enough = self.report.rows >= RECENT_PARTS
        return is_enough and self.query.status.algorithms != ["factorised"]

    def _slot_bytes(self) -> float:
        report = self.report
        beside = (report.bytes - report.column_bytes) / report.rows if self._grows_beside else 0.0
        return report.column_bytes / max(1, report.capacity) + beside

    def _shown_rate(self) -> float:
        """Rows a second between the oldest and the newest row held."""
        span_us = self.report.newest_us - self.report.oldest_us
        return self.report.rows * SECOND_US / max(span_us, SECOND_US) if span_us > 0 else 0.0

    def _rates(self) -> tuple[float, float]:
        """Rows a second, as memory is foreseen by them: over the time covered, and lately."""
        if self.query.plan.error_percent is not None:
            # Of a window that is narrow most of the time, what it holds says little.
            spans = (self.demand().range_us, self.demand().range_us // RECENT_PARTS)
            average, recent = map(self.query.rows_per_second, spans)
            return average, recent
        report, clock_us = self.report, self.query.status.clock_us
        if report.rows < 2 or clock_us is None:
            return 0.0, 0.0
        range_us = self.demand().range_us
        average = measured_rate(report.rows, report.newest_us - report.oldest_us, range_us)
        part_us = min(self.lifetime.hold_us // RECENT_PARTS, clock_us - report.oldest_us)
        return average, measured_rate(report.recent, part_us, range_us)

    def demand(self) -> Demand:
        """What the query asks of it.

        Without ERROR it asks for its whole range at all times; only with ERROR does EVERY say how
        far apart the instants may be at which the window is wide enough.
        """
        plan = self.query.plan
        spec = plan.inputs[self.position].window
        tolerance = min(self.query.tolerated_span_us(), spec.length_us)
        delay = plan.every_us or 0
        if spec.kind == "slide":  # it only has widths that are whole slides
            tolerance = min(tolerance, spec.length_us - spec.slide_us)
            tolerance -= tolerance % spec.slide_us
        if plan.error_percent is None or spec.kind != "time":
            delay = 0
        begin, end = life_of(plan, self.query.status.first_us) or (END_OF_TIME, END_OF_TIME)
        return Demand(
            self.query.name,
            self.name,
            spec.length_us,
            tolerance,
            delay,
            None if begin == START_OF_TIME else begin,
            None if end == END_OF_TIME else end,
            can_have_error(plan),
        )

    def lifetime_for(self, given: WidthGiven, demand: Demand) -> Lifetime:
        """How long rows stay for the demand in a window of the given width."""
        spec = self.query.plan.inputs[self.position].window
        full = lifetime_of(spec)
        width = min(demand.range_us, given.width_us)
        if given.turn is not None and given.level(demand) == "C":
            turn = given.turn
            narrow = full.narrowed(width, START_OF_TIME)
            return narrow.turning(turn.start_us, turn.period_us, turn.growth_us)
        if spec.kind == "slide":
            width -= width % spec.slide_us
        return full.narrowed(width, START_OF_TIME)

    @property
    def level(self) -> str:
        """How the query is served by the window as it is."""
        if not self.is_timed:
            return "A"
        lifetime, turn = self.lifetime, None
        if lifetime.turn_growth_us:
            numbers = (lifetime.turn_period_us, lifetime.turn_start_us, lifetime.turn_growth_us)
            turn = Turn(0, *numbers)
        found = WidthGiven(self.name, _width_us(lifetime), turn).level(self.demand())
        return UNMET if found == "none" else found

    def window_row(self) -> WindowRow:
        """Its row of session.windows()."""
        demand, state, timed = self.demand(), self.state(), self.is_timed
        return WindowRow(
            self.name,
            self.stream,
            [self.query.name],
            demand.range_us if timed else None,
            demand.least_us if timed else None,
            state.width_us if timed else None,
            self.report.rows,
            self.report.bytes,
            self.row_bytes,
            self._shown_rate() if timed else None,
            self.level,
        )

    def query_row(self) -> QueryRow:
        """Its row of session.queries()."""
        demand, plan, timed = self.demand(), self.query.plan, self.is_timed
        return QueryRow(
            self.query.name,
            self.name,
            plan.inputs[self.position].alias,
            demand.range_us if timed else None,
            plan.error_percent,
            demand.tolerance_us if timed else None,
            demand.delay_us,
            demand.begin_us,
            demand.end_us,
            self.level,
            " and ".join(self.query.status.algorithms),
        )


def windows_of(query: GovernedQuery) -> list[GovernedWindow]:
    """The windows of a query; before its first batch they are as large as empty ones."""
    reports = query.status.windows
    if not any(report.capacity for report in reports):
        shard = Shard(query.plan)
        reports = [replace(each, bytes=each.column_bytes) for each in window_reports(shard)]
    return [GovernedWindow(query, report.position, report) for report in reports]


def _width_us(lifetime: Lifetime) -> int:
    return lifetime.hold_us - 1 if lifetime.slide_us == 1 else lifetime.hold_us
