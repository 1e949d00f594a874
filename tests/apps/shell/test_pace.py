"""Paces at which rows of a file flow."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

from windrow.apps.shell.pace import AT_ONCE, Pace, pace_of
from windrow.errors import BindingError
from windrow.schema import StreamSchema, columns_of

SCHEMA = StreamSchema("s", columns_of("ts timestamp, k int"), "ts")
START = datetime(2026, 1, 1, tzinfo=UTC)


def rows(*seconds: float) -> pa.Table:
    times = [START + timedelta(seconds=each) for each in seconds]
    return pa.table({"ts": times, "k": list(range(len(seconds)))})


def sliced(pace: Pace, table: pa.Table) -> list[tuple[list[int], float]]:
    return [(part["k"].to_pylist(), round(s, 3)) for part, s in pace.slices(SCHEMA, table)]


def test_paces_are_read() -> None:
    assert pace_of("") is AT_ONCE
    assert pace_of("100/s") == Pace(rows_per_s=100)
    assert pace_of("0.5x") == Pace(speed=0.5)


@pytest.mark.parametrize("text", ["fast", "100", "0x", "-1/s", "10/m"])
def test_other_paces_are_refused(text: str) -> None:
    with pytest.raises(BindingError) as caught:
        pace_of(text)
    assert caught.value.code == "WB523"


def test_all_at_once() -> None:
    assert sliced(AT_ONCE, rows(0, 1, 2)) == [([0, 1, 2], 0.0)]


def test_so_many_rows_a_second() -> None:
    assert sliced(Pace(rows_per_s=20), rows(0, 0, 0)) == [([0, 1], 0.1), ([2], 0.05)]


def test_by_the_rows_own_time() -> None:
    # At ten times the pace a tenth of a second is one second of the rows.
    found = sliced(Pace(speed=10), rows(0, 0.5, 0.2, 2, 12))
    assert found == [([0, 1, 2], 0.2), ([3], 1.0), ([4], 0.0)]
