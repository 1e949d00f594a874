"""The row ledger: what became of every row of a stream. Nothing is dropped uncounted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

import pyarrow as pa

__all__ = ["LEDGER_COUNTS", "Ledger", "ledger_table", "total_ledger"]


@dataclass
class Ledger:
    """rows_in = applied + late + bad_time + bad_value + rejected + waiting, at every moment."""

    rows_in: int = 0
    applied: int = 0
    late: int = 0
    bad_time: int = 0
    bad_value: int = 0
    rejected: int = 0
    waiting: int = 0


LEDGER_COUNTS = tuple(each.name for each in fields(Ledger))


def total_ledger(parts: Iterable[Ledger]) -> Ledger:
    """What became of the rows of several parts of a stream.

    >>> total_ledger([Ledger(rows_in=2, applied=2), Ledger(rows_in=1, late=1)])
    Ledger(rows_in=3, applied=2, late=1, bad_time=0, bad_value=0, rejected=0, waiting=0)
    """
    given = list(parts)
    return Ledger(**{name: sum(getattr(each, name) for each in given) for name in LEDGER_COUNTS})


def ledger_table(ledgers: Mapping[str, Ledger]) -> pa.Table:
    """One row per stream."""
    columns = {name: [getattr(each, name) for each in ledgers.values()] for name in LEDGER_COUNTS}
    return pa.table(
        {
            "stream": pa.array(list(ledgers), pa.string()),
            **{name: pa.array(values, pa.int64()) for name, values in columns.items()},
        }
    )
