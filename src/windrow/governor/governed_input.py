"""One input of one query as the governor sees it: its needs, and how it is notified.

A runner says how its queries give these answers; all else about an input follows from its plan.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from windrow.plan.model import WindowSpec
from windrow.rows.prepare import lifetime_of
from windrow.windows.lifetime import Lifetime

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["GovernedInput", "KeptTail", "width_us_of"]


class KeptTail(NamedTuple):
    """What a query knows of the rows of an input by cells; pane_us: 0 where it has none."""

    cells: int = 0
    pane_us: int = 0
    panes: int = 0
    nbytes: int = 0


@dataclass(frozen=True)
class GovernedInput(ABC):
    """The input at `input_index` of a query; plan: as it was bound, with its ERROR."""

    query_name: str
    plan: RunnablePlan
    input_index: int

    @property
    @abstractmethod
    def algorithm(self) -> str:
        """What keeps the answer now."""

    @property
    @abstractmethod
    def life(self) -> tuple[int, int] | None:
        """First and last instant of the query; None while they are not known."""

    @abstractmethod
    def tolerated_span_us(self) -> int:
        """How much narrower the window may be for answers within the tolerated error."""

    @property
    @abstractmethod
    def lifetime(self) -> Lifetime:
        """How long rows stay now."""

    @property
    @abstractmethod
    def ordered_lifetime(self) -> Lifetime:
        """How long rows stay once all orders have been obeyed."""

    @property
    @abstractmethod
    def narrows_from_us(self) -> int:
        """The instant from which a narrower window evicts what it no longer covers."""

    @abstractmethod
    def may_change(self, at_us: int) -> bool:
        """Whether its width may be another than its range at that instant."""

    @abstractmethod
    def order(self, lifetime: Lifetime) -> None:
        """Let rows stay for that long."""

    @property
    def pane_us(self) -> int:
        """A width that is no whole number of these makes answers less certain."""
        return 1

    @property
    def tail(self) -> KeptTail:
        """What is known by cells, of rows that the window may no longer hold."""
        return KeptTail()

    @property
    def lacks_rows(self) -> bool:
        """Whether rows were refused that the answer would count now."""
        return False

    @property
    def spec(self) -> WindowSpec:
        """The window as the query names it."""
        return self.plan.inputs[self.input_index].window

    @property
    def full_lifetime(self) -> Lifetime:
        """How long rows stay in a window as wide as its range."""
        return lifetime_of(self.spec)

    @property
    def alias(self) -> str:
        """Its name in the query; parts of a query may use a name again, which is then numbered."""
        names = [entry.alias for entry in self.plan.inputs[: self.input_index + 1]]
        number = names.count(names[-1])
        return names[-1] if number == 1 else f"{names[-1]}#{number}"

    @property
    def stream(self) -> str:
        """Whose rows it reads."""
        return self.plan.inputs[self.input_index].stream.name

    @property
    def range_us(self) -> int:
        """How far back the query looks."""
        return self.spec.length_us

    @property
    def width_us(self) -> int:
        """How far back the window reaches now; between turns where it takes turns."""
        return width_us_of(self.lifetime)

    @property
    def is_filtered(self) -> bool:
        """Whether it reads only some of the stream's rows."""
        return self.plan.inputs[self.input_index].filter is not None

    @property
    def has_width(self) -> bool:
        """Whether its window can be made narrower or wider."""
        return self.spec.traits.has_width


def width_us_of(lifetime: Lifetime) -> int:
    """The width of a window whose rows stay for so long.

    >>> width_us_of(Lifetime.closed(60)), width_us_of(Lifetime.sliding(60, 5))
    (60, 60)
    """
    return lifetime.hold_us - 1 if lifetime.slide_us == 1 else lifetime.hold_us
