"""A runner for the governor that holds no rows: windows are numbers, and orders are noted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from support.streams import plan_of
from windrow.event_time import START_OF_TIME
from windrow.governor.governed_input import GovernedInput
from windrow.governor.measured_window import MeasuredWindow
from windrow.plan.model import QueryPlan
from windrow.rows.life import life_of
from windrow.rows.prepare import lifetime_of
from windrow.windows.lifetime import Lifetime

SECOND = 1_000_000


@dataclass
class FakeQuery:
    """A query whose rows would be of one size; they come at a rate that tests change."""

    name: str
    text: str
    rate: float = 100.0
    tolerated_us: int = 0
    first_us: int | None = 0
    orders: list[Lifetime] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.plan: QueryPlan = plan_of(self.text)
        self.lifetime = lifetime_of(self.plan.inputs[0].window)

    def window(self) -> MeasuredWindow:
        """As it is: full, at its width."""
        read = FakeInput(self.name, self.plan, 0, self)
        rows = round(self.rate * read.width_us / SECOND)
        size = {"bytes": 10 * rows, "slot_bytes": 8.0, "fixed_bytes": 0.0}
        rates = {"rate": self.rate, "average_rate": self.rate, "span_us": read.width_us}
        return MeasuredWindow(f"{self.name}.b", (read,), rows, **size, **rates)  # type: ignore[arg-type] # numbers of both types


@dataclass(frozen=True)
class FakeInput(GovernedInput):
    """Obeys at once."""

    query: FakeQuery

    @property
    def algorithm(self) -> str:
        return "none"

    @property
    def life(self) -> tuple[int, int] | None:
        return life_of(self.plan, self.query.first_us)

    def tolerated_span_us(self) -> int:
        return self.query.tolerated_us

    @property
    def lifetime(self) -> Lifetime:
        return self.query.lifetime

    @property
    def ordered_lifetime(self) -> Lifetime:
        return self.query.lifetime

    @property
    def narrows_from_us(self) -> int:
        return START_OF_TIME

    def may_change(self, at_us: int) -> bool:
        del at_us
        return self.plan.error_percent is not None

    def order(self, lifetime: Lifetime) -> None:
        self.query.orders.append(lifetime)
        self.query.lifetime = lifetime


@dataclass
class FakePort:
    """queries: those that run."""

    available: float
    queries: list[FakeQuery] = field(default_factory=list)
    now_us: int = 0
    fixed: float = 0.0
    reclaimed: int = 0

    def windows(self) -> list[MeasuredWindow]:
        return [query.window() for query in self.queries]

    def clock_us(self) -> int:
        return self.now_us

    def fixed_bytes(self) -> float:
        return self.fixed

    def available_bytes(self, windows: Sequence[MeasuredWindow]) -> float:
        del windows
        return self.available

    def reclaim(self) -> None:
        self.reclaimed += 1
