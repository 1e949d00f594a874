"""What the cost model knows of the streams: rates, rows held, and how many rows match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from windrow.plan.model import PlanInput, QueryPlan

__all__ = [
    "ASSUMED_RATE",
    "ASSUMED_SELECTIVITY",
    "Figures",
    "assumed_figures",
    "combined_figures",
    "measured_figures",
]

# Where nothing is known: the rate is a guess, the selectivity that of the paper's experiments.
ASSUMED_RATE = 1000.0
ASSUMED_SELECTIVITY = 0.01
# The partitions of a window that counts rows by partition, where nothing is known.
ASSUMED_PARTITIONS = 100
_SECOND_US = 1_000_000


@dataclass(frozen=True)
class Figures:
    """rates: rows a second, per input that is joined. held: rows in each window.

    matches: joined rows that an arriving row finds by the equalities alone, on average. kept: the
    share of these that the other conditions keep. origin: 'assumed', 'given' or 'measured'.
    """

    rates: tuple[float, ...]
    held: tuple[float, ...]
    matches: float
    kept: float
    origin: str

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Figures:
        """Back from the fields as JSON gives them."""
        return cls(**{**fields, "rates": tuple(fields["rates"]), "held": tuple(fields["held"])})

    def of_first(self, inputs: int) -> Figures:
        """The figures without those of the inputs behind, which are negated."""
        return replace(self, rates=self.rates[:inputs], held=self.held[:inputs])

    @property
    def joined(self) -> float:
        """Joined rows that are live at a time."""
        arrivals = sum(self.rates)
        if not arrivals or len(self.held) < 2:
            return 0.0
        # A row of a window is in joined / held of them, and that is what an arriving one matches.
        shares = (
            rate / arrivals / max(held, 1.0)
            for rate, held in zip(self.rates, self.held, strict=True)
        )
        return self.matches * self.kept / sum(shares)


def combined_figures(parts: Sequence[Figures]) -> Figures:
    """The figures of a query whose rows are partitioned into several shards."""
    if len(parts) == 1:
        return parts[0]
    rates = tuple(sum(each) for each in zip(*(part.rates for part in parts), strict=True))
    held = tuple(sum(each) for each in zip(*(part.held for part in parts), strict=True))
    arrivals = sum(rates) or 1.0
    matches = sum(part.matches * sum(part.rates) for part in parts) / arrivals
    kept = sum(part.kept * part.matches * sum(part.rates) for part in parts)
    share = kept / (matches * arrivals) if matches else 1.0
    return Figures(rates, held, matches, share, parts[0].origin)


def assumed_figures(
    plan: QueryPlan,
    rates: Mapping[str, float] | None = None,
    selectivity: float | None = None,
) -> Figures:
    """Figures from given rates (by stream) and selectivity of an equality, guessed where absent."""
    known = rates or {}
    rate_of = tuple(known.get(entry.stream.name, ASSUMED_RATE) for entry in plan.joined)
    held = tuple(_held(entry, rate) for entry, rate in zip(plan.joined, rate_of, strict=True))
    chosen = ASSUMED_SELECTIVITY if selectivity is None else selectivity
    joined = prod(held) * chosen ** _links(plan)
    origin = "given" if rates or selectivity is not None else "assumed"
    return Figures(rate_of, held, _matches(rate_of, held, joined), 1.0, origin)


def measured_figures(
    rates: tuple[float, ...],
    held: tuple[int, ...],
    joined: int,
    found: tuple[int, int] | None = None,
) -> Figures:
    """Figures of a running query; found: joined rows before and after the other conditions."""
    rows = tuple(float(each) for each in held)
    kept = found[1] / found[0] if found and found[0] else 1.0
    matches = _matches(rates, rows, float(joined)) / kept if kept else 0.0
    return Figures(rates, rows, matches, kept, "measured")


def _matches(rates: tuple[float, ...], held: tuple[float, ...], joined: float) -> float:
    """Joined rows per row held, averaged over arrivals: what an arriving row will find."""
    if len(held) < 2:
        return 1.0
    arrivals = sum(rates)
    if not arrivals:
        return 0.0
    shares = (rate / max(rows, 1.0) for rate, rows in zip(rates, held, strict=True))
    return joined * sum(shares) / arrivals


def _links(plan: QueryPlan) -> int:
    """Equalities that tie the inputs together."""
    variables = [variable for entry in plan.joined for variable in entry.variables]
    return len(variables) - len(set(variables))


def _held(entry: PlanInput, rate: float) -> float:
    window = entry.window
    if window.traits.has_width:
        return rate * window.length_us / _SECOND_US
    partitions = ASSUMED_PARTITIONS if window.traits.counts_by_partition else 1
    return float(window.rows * partitions)
