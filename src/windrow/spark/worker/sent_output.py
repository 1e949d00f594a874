"""What the tree of a bucket gives for one batch where another stage follows: changes, by number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from windrow.operators.relations.changes import Changes
from windrow.rows.frames import Parts, table_bytes, table_of
from windrow.rows.set_aside import QueryLedger
from windrow.spark.shuffle.exchange import rows_of
from windrow.spark.worker.tree_output import TreeOutput

__all__ = ["SentOutput", "sent_rows"]


@dataclass
class SentOutput(TreeOutput):
    """Gathered step by step, in order of time; below: as packets of exchanges have it."""

    sent: dict[int, list[pa.RecordBatch]] = field(default_factory=dict)
    below: Mapping[int, int] = field(default_factory=dict)

    def send(self, changes: Mapping[int, Changes]) -> None:
        """What a step changed."""
        for number, each in changes.items():
            if each.size:
                self.sent.setdefault(number, []).append(rows_of(each))

    def to_parts(self, noted: QueryLedger) -> Parts:
        """All of it for one frame."""
        header, sections = super().to_parts(noted)
        tables = [pa.Table.from_batches(batches) for batches in self.sent.values()]
        sent = {"sent": list(self.sent), "below": list(self.below.items())}
        return Parts({**header, **sent}, [*map(table_bytes, tables), *sections])


def sent_rows(parts: Parts) -> tuple[dict[int, pa.RecordBatch], dict[int, int]]:
    """What to_parts() holds of changes, by number, and of first times."""
    numbers = parts.header["sent"]
    pairs = zip(numbers, parts.sections, strict=False)
    rows = {number: _one_batch(table_of(data)) for number, data in pairs}
    return rows, dict(parts.header["below"])


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    return pa.concat_batches(table.to_batches())
