"""Arrow values as JSON: nothing is lost that a JavaScript number cannot hold."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from windrow.apps.console.json_rows import column_types, dumped, plain_columns, plain_rows

SAFE = 2**53 - 1


def slowly(value: Any) -> Any:
    """One value by the rules, without a look at its column."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if abs(value) <= SAFE else str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return value


columns = st.one_of(
    st.tuples(st.just(pa.int64()), st.lists(st.none() | st.integers(-(2**63), 2**63 - 1))),
    st.tuples(st.just(pa.int32()), st.lists(st.none() | st.integers(-(2**31), 2**31 - 1))),
    st.tuples(st.just(pa.float64()), st.lists(st.none() | st.floats())),
    st.tuples(st.just(pa.bool_()), st.lists(st.none() | st.booleans())),
    st.tuples(st.just(pa.string()), st.lists(st.none() | st.text())),
)


@given(columns)
def test_values_are_those_of_the_slow_twin(column: tuple[pa.DataType, list[Any]]) -> None:
    kind, values = column
    table = pa.table({"x": pa.array(values, kind)})
    assert plain_rows(table) == [(slowly(value),) for value in values]
    back = json.loads(dumped(plain_rows(table)))
    assert back == [[slowly(value)] for value in values]


def test_times_and_spans_are_microseconds_and_decimals_texts() -> None:
    table = pa.table(
        {
            "at": pa.array([datetime(2026, 1, 1, tzinfo=UTC), None], pa.timestamp("us", "UTC")),
            "ns": pa.array([1_000, None], pa.timestamp("ns")),
            "span": pa.array([timedelta(seconds=2), None], pa.duration("us")),
            "d": pa.array([Decimal("1.10"), None], pa.decimal128(5, 2)),
            "day": pa.array([date(2026, 1, 2), None]),
            "names": pa.array([["a", None], None], pa.list_(pa.string())),
        }
    )
    assert plain_rows(table) == [
        (1_767_225_600_000_000, 1, 2_000_000, "1.10", "2026-01-02", ["a", None]),
        (None,) * 6,
    ]
    assert [each["type"] for each in column_types(table.schema)] == [
        *("TIMESTAMP", "TIMESTAMP_NTZ", "DURATION", "DECIMAL(5, 2)", "DATE", "LIST(STRING)")
    ]
    assert plain_columns(table)["d"] == ["1.10", None]


def test_a_table_without_columns_has_rows() -> None:
    assert plain_rows(pa.table({"x": [1, 2]}).select([])) == [(), ()]
