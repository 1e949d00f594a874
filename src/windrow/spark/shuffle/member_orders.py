"""Orders to a bundle: a query begins or ends, and which orders of a batch count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["MemberOrder", "orders_in_turn"]


@dataclass(frozen=True)
class MemberOrder:
    """A query begins or ends with the batch that this order reaches, before the rows of it.

    number: of the query within its bundle, never given again. plan: its text; '' where it ends.
    """

    number: int
    plan: str = ""
    grid_us: int = 1

    @property
    def ends(self) -> bool:
        """Whether the query ends."""
        return not self.plan

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, parts: Mapping[str, Any]) -> MemberOrder:
        """Back from to_json()."""
        return cls(**parts)


def orders_in_turn(
    orders: Iterable[MemberOrder], running: Iterable[int], last: int, missed: Sequence[int] = ()
) -> list[MemberOrder]:
    """Those orders of a batch that count, beginnings first.

    running: the numbers of the queries that run; last: the highest that ever ran; missed: lower
    ones that never did, since whoever lists a folder may miss a file and see a younger one. An
    order may come twice, where a driver did not know that it had been read.
    """
    given = list(orders)
    begins = {
        each.number: each
        for each in given
        if not each.ends and (each.number > last or each.number in missed)
    }
    known = {*running, *begins}
    ends = {each.number: each for each in given if each.ends and each.number in known}
    return [*(begins[number] for number in sorted(begins)), *(ends[one] for one in sorted(ends))]
