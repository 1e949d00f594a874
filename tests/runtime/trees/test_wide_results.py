"""Results with decimals of 38 digits: rows that differ in their high words are different rows."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from support.tree_runs import TreeRunner
from windrow.output.publish import Publisher
from windrow.plan.catalog import Catalog
from windrow.plan.relations.planner import tree_plan
from windrow.schema import StreamSchema, columns_of
from windrow.sql import parse_query

STREAM = StreamSchema("s", columns_of("ts timestamp, k int, x decimal(18, 0)"), "ts")
TEXT = "SELECT t FROM (SELECT k, SUM(x) AS t FROM s [10 SECONDS] GROUP BY k) AS q"
MOST = 10**18 - 1
SECOND = 1_000_000


def rows(second: int, k: int, total: int) -> pa.RecordBatch:
    """Rows of one instant whose sum is this."""
    values = [MOST] * (total // MOST) + [total % MOST]
    size = len(values)
    columns = ([second * SECOND] * size, [k] * size, [Decimal(value) for value in values])
    arrays = map(pa.array, columns, STREAM.arrow.types)
    return pa.RecordBatch.from_arrays(list(arrays), schema=STREAM.arrow)


@pytest.mark.parametrize("restarts", [(), (1,), (2,), (1, 2, 3)])
def test_rows_are_named_by_all_their_digits(restarts: tuple[int, ...]) -> None:
    runner = TreeRunner(tree_plan(parse_query(TEXT), Catalog(STREAM)))
    small, large = 5, 5 + 2**64
    steps = [rows(1, 1, small), rows(2, 2, large), rows(3, 3, small)]
    for number, batch in enumerate(steps, 1):
        runner.step({"s": batch}, number * SECOND)
        if number in restarts:
            runner.restart()
    assert shown(runner.publisher) == [small, small, large]
    runner.step({}, 11 * SECOND + 1)  # the first has left
    assert shown(runner.publisher) == [small, large]
    runner.step({}, 12 * SECOND + 1)
    assert shown(runner.publisher) == [small]
    changes = runner.publisher.changes().to_pylist()
    net = [(row["t"], row["change"]) for row in changes]
    given = [(small, 1), (large, 1), (small, 1), (small, -1), (large, -1)]
    assert net == [(Decimal(value), change) for value, change in given]


def shown(publisher: Publisher) -> list[int]:
    return sorted(int(row["t"]) for row in publisher.result().to_pylist())
