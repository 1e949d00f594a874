"""The cost model: what each algorithm would need for an arriving row, and which is the cheapest.

Two measures stand side by side. The paper's formulas count rows touched per arrival: (3) for the
incremental and (6) for the charged algorithm. Ours are nanoseconds and bytes, with constants
measured on one machine with 8,000 to 200,000 rows held; only their ratios matter to the choice.
"""

from __future__ import annotations

from dataclasses import dataclass

from windrow.plan.algorithms import ALGORITHMS, reasons_against
from windrow.plan.figures import Figures
from windrow.plan.model import QueryPlan
from windrow.plan.row_bytes import row_bytes

__all__ = ["Candidate", "candidates", "cheapest", "paper_visits"]

# Nanoseconds: of a row that enters and leaves, and of one joined row.
FACTORISED_ROW_NS = 50.0
FACTORISED_HOP_NS = 40.0  # for every window beyond the second
EXTREME_ROW_NS = 60.0
PAIRS_ROW_NS = 320.0
PROBE_NS = 2.0
CONDITION_NS = 6.0
APPLY_NS = 1.0
GROUP_NS = 12.0
CHARGE_NS = 8.0
CHARGE_GROUP_NS = 90.0
CHARGE_EXTREME_NS = 22.0
STORE_NS = 130.0
STORE_EXTREME_NS = 180.0
# Bytes on top of the row itself: its slot and index entries, a charge record, a stored joined row.
SLOT_BYTES = 90.0
RECORD_BYTES = 90.0
RESULT_BYTES = 64.0
NUMBER_BYTES = 8.0


@dataclass(frozen=True)
class Candidate:
    """An algorithm's predicted cost for an arriving row; reason: why it cannot run, or None."""

    name: str
    nanoseconds: float
    bytes: float
    reason: str | None


def candidates(plan: QueryPlan, figures: Figures) -> tuple[Candidate, ...]:
    """All algorithms, the cheapest that can run first."""
    reasons = reasons_against(plan)
    known = figures.of_first(len(plan.joined))
    found = [
        Candidate(name, _time(name, plan, known), _bytes(name, plan, known), reasons[name])
        for name in reversed(ALGORITHMS)
    ]
    return tuple(sorted(found, key=lambda each: _rank(plan, each)))


def _rank(plan: QueryPlan, candidate: Candidate) -> tuple[bool, bool, float]:
    # Rows that are retracted and return form joined rows again: storing those pays less.
    held = bool(plan.negations) and candidate.name == "pipelined"
    return candidate.reason is not None, held, candidate.nanoseconds


def cheapest(plan: QueryPlan, figures: Figures) -> str:
    """The algorithm that `auto` takes."""
    return candidates(plan, figures)[0].name


def paper_visits(figures: Figures) -> tuple[float, float]:
    """Rows touched per arrival by formula (3), incremental, and (6), charged; of two windows.

    A hash table with M buckets sends an arriving row to 1/M of the other window, which are its
    matches; for each row that enters one leaves, of the input that it came from.
    """
    rows = sum(figures.held)
    leaving_pairs = figures.matches
    return rows + 2 * leaving_pairs, 2 * rows + figures.matches


def _time(name: str, plan: QueryPlan, figures: Figures) -> float:
    extremes = sum(each.traits.laws.needs_order for each in plan.aggregates)
    if name == "factorised":
        hops = max(len(plan.joined) - 2, 0)
        return FACTORISED_ROW_NS + FACTORISED_HOP_NS * hops + EXTREME_ROW_NS * extremes
    kept = figures.matches * figures.kept
    find = figures.matches * (PROBE_NS + (CONDITION_NS if plan.residual is not None else 0.0))
    apply = kept * (APPLY_NS + (GROUP_NS if plan.group_by else 0.0))
    if name == "incremental":
        return PAIRS_ROW_NS + 2 * (find + apply)
    if name == "pipelined":
        return PAIRS_ROW_NS + find + apply + kept * (STORE_NS + STORE_EXTREME_NS * extremes)
    record = CHARGE_GROUP_NS if plan.group_by else CHARGE_NS
    charge = kept * (record + CHARGE_EXTREME_NS * extremes)
    return PAIRS_ROW_NS + (find + apply + charge) * (1.0 + _taken_back(plan, figures))


def _bytes(name: str, plan: QueryPlan, figures: Figures) -> float:
    held = max(sum(figures.held), 1.0)
    rows = [row_bytes(plan, input_index) for input_index in range(len(plan.joined))]
    row = sum(size * rows_held for size, rows_held in zip(rows, figures.held, strict=True)) / held
    numbers = NUMBER_BYTES * len(plan.aggregates)
    if name == "factorised":
        keys = held / max(figures.matches, 1.0)
        return row + keys * (NUMBER_BYTES + numbers) / held
    if name == "incremental":
        return row + SLOT_BYTES
    if name == "pipelined":
        return row + SLOT_BYTES + figures.joined * (RESULT_BYTES + numbers) / held
    records = max(1.0, min(figures.matches * figures.kept, 16.0)) if plan.group_by else 1.0
    return row + SLOT_BYTES + records * (RECORD_BYTES + numbers)


def _taken_back(plan: QueryPlan, figures: Figures) -> float:
    """The share of arrivals whose leaving must look for what was charged to other rows.

    A row of a window that counts rows may leave before the row that was charged. Where all windows
    count, the first is charged.
    """
    arrivals = sum(figures.rates)
    counted = [entry.window.traits.counts_rows for entry in plan.joined]
    if all(counted):
        counted[0] = False
    rates = (rate for rate, counts in zip(figures.rates, counted, strict=True) if counts)
    return sum(rates) / arrivals if arrivals else 0.0
