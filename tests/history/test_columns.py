"""Measures and keys of all types, groups that come and go, and what is refused."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from papers.rivals.full_precomputation import FullPrecomputation
from windrow.errors import BindingError
from windrow.history.adaptive_tree import AdaptiveTree
from windrow.history.aggregates import Aggregate
from windrow.history.history import History
from windrow.history.spec import HistorySpec, Level, levels_of
from windrow.schema import BIGINT, BOOLEAN, DATE, DOUBLE, FLOAT, SMALLINT, STRING, Column, decimal

FOREVER = levels_of([(10, None), (100, None)])


def shown(answer: Any, *aggregates: Aggregate) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = answer.table(list(aggregates)).to_pylist()
    return rows


def test_decimals_are_exact() -> None:
    history = History(HistorySpec(FOREVER, (Column("price", decimal(18, 2)),)))
    prices = [Decimal("9999999999999999.99"), Decimal("0.01"), Decimal("-2.50"), None]
    history.insert(np.arange(4), {"price": pa.array(prices, pa.decimal128(18, 2))})
    answer = history.snapshot(0, 10)
    assert answer.bounds("sum", "price").value == Decimal("9999999999999997.50")
    assert answer.bounds("min", "price").value == Decimal("-2.50")
    assert answer.bounds("max", "price").value == Decimal("9999999999999999.99")
    assert answer.bounds("count", "price").value == 3
    assert answer.bounds("avg", "price").value == pytest.approx(9999999999999997.5 / 3)


def test_sums_of_integers_beyond_64_bits_are_wide() -> None:
    history = History(HistorySpec(FOREVER, (Column("n", BIGINT),)))
    history.insert(np.arange(5), {"n": pa.array([2**63 - 1] * 5)})
    answer = history.snapshot(0, 10)
    assert answer.bounds("sum", "n").value == 5 * (2**63 - 1)
    assert answer.columns(Aggregate("sum", "n"))[0].type == pa.decimal128(38, 0)
    assert history.snapshot(0, 1).columns(Aggregate("sum", "n"))[0].type == pa.int64()


def test_small_types_keep_their_type_in_extremes() -> None:
    spec = HistorySpec(FOREVER, (Column("s", SMALLINT), Column("f", FLOAT)))
    history = History(spec)
    columns = {"s": pa.array([3, -4], pa.int16()), "f": pa.array([0.5, None], pa.float32())}
    history.insert(np.arange(2), columns)
    answer = history.snapshot(0, 10)
    assert answer.columns(Aggregate("min", "s"))[0].type == pa.int16()
    assert answer.columns(Aggregate("max", "f"))[0].type == pa.float32()
    assert (answer.bounds("min", "s").value, answer.bounds("max", "f").value) == (-4, 0.5)


def test_keys_of_several_types() -> None:
    keys = (Column("place", STRING), Column("day", DATE), Column("open", BOOLEAN))
    history = History(HistorySpec(FOREVER, (), keys))
    columns = {
        "place": pa.array(["a", "a", None, "a"]),
        "day": pa.array([date(2026, 1, 1)] * 3 + [None]),
        "open": pa.array([True, True, False, None]),
    }
    history.insert(np.arange(4), columns)
    rows = shown(history.snapshot(0, 10), Aggregate("count"))
    found = {(row["place"], row["day"], row["open"]): row["count"] for row in rows}
    day = date(2026, 1, 1)
    assert found == {("a", day, True): 2, (None, day, False): 1, ("a", None, None): 1}


def test_chosen_groups_come_in_the_order_asked_for() -> None:
    history = History(HistorySpec(FOREVER, (Column("v", DOUBLE),), (Column("k", STRING),)))
    columns = {"k": pa.array(["x", "y", "x"]), "v": pa.array([1.0, 2.0, 4.0])}
    history.insert(np.arange(3), columns)
    asked = pa.table({"k": ["y", "unknown", "x"]})
    rows = shown(history.snapshot(0, 10, keys=asked), Aggregate("sum", "v"), Aggregate("count"))
    assert [row["sum_v"] for row in rows] == [2.0, None, 5.0]
    assert [row["count"] for row in rows] == [1, 0, 2]
    assert history.groups.held().size == 2


@pytest.mark.parametrize("storage", [AdaptiveTree, FullPrecomputation], ids=["adaptive", "full"])
def test_groups_that_are_gone_take_no_memory(storage: Any) -> None:
    spec = HistorySpec(levels_of([(10, 20), (100, 100)]), (), (Column("k", BIGINT),))
    history = History(spec, storage)
    sizes = []
    for turn in range(60):
        times = np.arange(turn * 100, turn * 100 + 100)
        history.insert(times, {"k": pa.array(times)})  # every key comes once
        history.advance(turn * 100 + 99)
        sizes.append(history.nbytes)
    assert history.groups.held().size <= 300
    assert max(sizes[30:]) <= max(sizes[:30])
    total = history.snapshot(-100, 6_000, total=True)
    assert total.is_exact
    assert total.bounds("count").value == 6_000


@pytest.mark.parametrize(
    ("code", "make"),
    [
        ("WB301", lambda: HistorySpec(())),
        ("WB302", lambda: HistorySpec((Level(0),))),
        ("WB303", lambda: HistorySpec(levels_of([(10, None), (15, None)]))),
        ("WB304", lambda: HistorySpec(levels_of([(10, 100), (20, 50)]))),
        ("WB304", lambda: HistorySpec(levels_of([(10, None), (20, 50)]))),
        ("WB306", lambda: HistorySpec(FOREVER, split_above=-1)),
        ("WB307", lambda: HistorySpec(FOREVER, quantiles=("v",))),
        ("WB308", lambda: History(HistorySpec(FOREVER)).snapshot(0, 10, at_us=7)),
        ("WB309", lambda: HistorySpec(FOREVER, (Column("s", STRING),))),
        ("WB310", lambda: HistorySpec(FOREVER, (Column("v", DOUBLE),), (Column("v", DOUBLE),))),
        ("WB311", lambda: Aggregate("mode", "v")),
        ("WB312", lambda: Aggregate("sum")),
        ("WB313", lambda: Aggregate("quantile", "v", 1.5)),
        ("WB314", lambda: Aggregate("distinct", "v").check(HistorySpec(FOREVER))),
        ("WB315", lambda: History(HistorySpec(FOREVER)).snapshot(10, 0)),
    ],
)
def test_what_cannot_be_is_refused(code: str, make: Any) -> None:
    with pytest.raises(BindingError, match=code):
        make()
