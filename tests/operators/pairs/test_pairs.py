"""The pair algorithms and the rows of selects against all combinations of rows at each instant."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from support.all_joined import Case, Joined, Row, Shown, held, states
from support.streams import STREAMS, batch_of, instant, plan_of
from windrow.operators.pairs.operator import PairOperator
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import Preparer
from windrow.rows.prepared_rows import PreparedRows
from windrow.rows.shape import shape_of

END = 45


def same(joined: Joined, *columns: str) -> bool:
    """Whether all rows have the same, and not NULL, in these columns."""
    return all(
        len({repr(row[column]) for row in joined}) == 1 and joined[0][column] is not None
        for column in columns
    )


def pair(joined: Joined, left: int, right: int, column: str) -> bool:
    return same((joined[left], joined[right]), column)


def greater(left: Any, right: Any) -> bool:
    """left > right as the language has it: NULL is no answer, NaN the largest."""
    if left is None or right is None:
        return False
    heights = [(math.isnan(x), 0 if math.isnan(x) else x) for x in (left, right)]
    return heights[0] > heights[1]


def exact_product(left: Any, right: Any) -> Any:
    """The product, not rounded; NULL and what is not finite as usual."""
    if left is None or right is None:
        return None
    if math.isfinite(left) and math.isfinite(right):
        return Fraction(left) * Fraction(right)
    return left * right


def less(left: Any, right: Any) -> Any:
    return None if left is None or right is None else left - right


def added(left: Any, right: Any) -> Any:
    return None if left is None or right is None else left + right


def distance(left: Any, right: Any) -> Any:
    return None if left is None or right is None else abs(left - right)


CASES = {
    "unequal windows and a residual": Case(
        "SELECT COUNT(*) AS n, SUM(a.l) AS s, COUNT(b.d) AS c FROM a [9 MICROSECONDS], "
        "b [3 MICROSECONDS] WHERE a.k = b.k AND a.d > b.d",
        (("time", 9, 0), ("time", 3, 0)),
        lambda r: same(r, "k") and greater(r[0]["d"], r[1]["d"]),
        (
            ("count", lambda _: None),
            ("measure", lambda r: r[0]["l"]),
            ("measure", lambda r: r[1]["d"]),
        ),
    ),
    "a window of rows and a slide": Case(
        "SELECT a.s AS g, COUNT(*) AS n, SUM(b.l) AS s FROM a [ROWS 3], "
        "b [RANGE 8 MICROSECONDS SLIDE 4 MICROSECONDS] WHERE a.k = b.k GROUP BY a.s",
        (("rows", 3, 0), ("slide", 8, 4)),
        lambda r: same(r, "k"),
        (("count", lambda _: None), ("measure", lambda r: r[1]["l"])),
        lambda r: (r[0]["s"],),
    ),
    "two windows of rows": Case(
        "SELECT a.s AS g, b.s AS h, SUM(a.l) AS s FROM a [ROWS 3], b [PARTITION BY k ROWS 2] "
        "WHERE a.k = b.k GROUP BY a.s, b.s",
        (("rows", 3, 0), ("partition", 2, 0)),
        lambda r: same(r, "k"),
        (("measure", lambda r: r[0]["l"]),),
        lambda r: (r[0]["s"], r[1]["s"]),
    ),
    "an exact product": Case(
        "SELECT SUM(a.d * b.d) AS p, SUM(a.l * b.l) AS l FROM a [6 MICROSECONDS], "
        "b [8 MICROSECONDS] WHERE a.k = b.k",
        (("time", 6, 0), ("time", 8, 0)),
        lambda r: same(r, "k"),
        (
            ("measure", lambda r: exact_product(r[0]["d"], r[1]["d"])),
            ("measure", lambda r: exact_product(r[0]["l"], r[1]["l"])),
        ),
    ),
    "a sum that does not separate": Case(
        "SELECT a.k + b.k AS g, SUM(ABS(a.d - b.d)) AS s FROM a [6 MICROSECONDS], "
        "b [8 MICROSECONDS] WHERE a.s = b.s GROUP BY a.k + b.k",
        (("time", 6, 0), ("time", 8, 0)),
        lambda r: same(r, "s"),
        (
            (
                "measure",
                lambda r: (
                    None if less(r[0]["d"], r[1]["d"]) is None else abs(less(r[0]["d"], r[1]["d"]))
                ),
            ),
        ),
        lambda r: (added(r[0]["k"], r[1]["k"]),),
    ),
    "distinct values": Case(
        "SELECT a.o AS g, COUNT(DISTINCT b.s) AS s, COUNT(DISTINCT a.k + b.l) AS k "
        "FROM a [7 MICROSECONDS], b [ROWS 4] WHERE a.k = b.k GROUP BY a.o",
        (("time", 7, 0), ("rows", 4, 0)),
        lambda r: same(r, "k"),
        (
            ("tally", lambda r: r[1]["s"]),
            ("tally", lambda r: added(r[0]["k"], r[1]["l"])),
        ),
        lambda r: (r[0]["o"],),
    ),
    "a star of three": Case(
        "SELECT COUNT(*) AS n, SUM(c.l) AS s FROM a [9 MICROSECONDS], b [5 MICROSECONDS], "
        "c [ROWS 3] WHERE a.k = b.k AND b.k = c.k",
        (("time", 9, 0), ("time", 5, 0), ("rows", 3, 0)),
        lambda r: same(r, "k"),
        (("count", lambda _: None), ("measure", lambda r: r[2]["l"])),
    ),
    "a chain of three": Case(
        "SELECT a.s AS g, COUNT(*) AS n FROM a [9 MICROSECONDS], b [5 MICROSECONDS], "
        "c [7 MICROSECONDS] WHERE a.k = b.k AND b.o = c.o GROUP BY a.s",
        (("time", 9, 0), ("time", 5, 0), ("time", 7, 0)),
        lambda r: pair(r, 0, 1, "k") and pair(r, 1, 2, "o"),
        (("count", lambda _: None),),
        lambda r: (r[0]["s"],),
    ),
    "a triangle": Case(
        "SELECT COUNT(*) AS n, SUM(a.l) AS s FROM a [9 MICROSECONDS], b [9 MICROSECONDS], "
        "c [ROWS 5] WHERE a.k = b.k AND b.o = c.o AND c.s = a.s",
        (("time", 9, 0), ("time", 9, 0), ("rows", 5, 0)),
        lambda r: pair(r, 0, 1, "k") and pair(r, 1, 2, "o") and pair(r, 0, 2, "s"),
        (("count", lambda _: None), ("measure", lambda r: r[0]["l"])),
    ),
    "no equality": Case(
        "SELECT COUNT(*) AS n, SUM(b.l) AS s FROM a [6 MICROSECONDS], b [ROWS 3], "
        "c [4 MICROSECONDS] WHERE a.d > b.d AND a.k = c.k",
        (("time", 6, 0), ("rows", 3, 0), ("time", 4, 0)),
        lambda r: greater(r[0]["d"], r[1]["d"]) and pair(r, 0, 2, "k"),
        (("count", lambda _: None), ("measure", lambda r: r[1]["l"])),
    ),
    "one window": Case(
        "SELECT a.o AS g, SUM(a.d) AS s, COUNT(DISTINCT a.s) AS t FROM a [5 MICROSECONDS] "
        "GROUP BY a.o",
        (("time", 5, 0),),
        lambda _: True,
        (("measure", lambda r: r[0]["d"]), ("tally", lambda r: r[0]["s"])),
        lambda r: (r[0]["o"],),
    ),
}
EXTREMES = {
    "extremes of timed windows": Case(
        "SELECT a.s AS g, MAX(a.l - b.l) AS m, MIN(b.d) AS d FROM a [9 MICROSECONDS], "
        "b [4 MICROSECONDS] WHERE a.k = b.k GROUP BY a.s",
        (("time", 9, 0), ("time", 4, 0)),
        lambda r: same(r, "k"),
        (("max", lambda r: less(r[0]["l"], r[1]["l"])), ("min", lambda r: r[1]["d"])),
        lambda r: (r[0]["s"],),
    ),
    "extremes of a window of rows": Case(
        "SELECT COUNT(*) AS n, MAX(b.l) AS m, MIN(a.d) AS d FROM a [12 MICROSECONDS], b [ROWS 3] "
        "WHERE a.k = b.k",
        (("time", 12, 0), ("rows", 3, 0)),
        lambda r: same(r, "k"),
        (
            ("count", lambda _: None),
            ("max", lambda r: r[1]["l"]),
            ("min", lambda r: r[0]["d"]),
        ),
    ),
    "extremes of partitions, three windows": Case(
        "SELECT c.o AS g, MAX(b.l) AS m, COUNT(DISTINCT a.s) AS t FROM a [12 MICROSECONDS], "
        "b [PARTITION BY k ROWS 1], c [ROWS 4] WHERE a.k = b.k AND b.k = c.k AND a.l > c.l "
        "GROUP BY c.o",
        (("time", 12, 0), ("partition", 1, 0), ("rows", 4, 0)),
        lambda r: same(r, "k") and greater(r[0]["l"], r[2]["l"]),
        (("max", lambda r: r[1]["l"]), ("tally", lambda r: r[0]["s"])),
        lambda r: (r[2]["o"],),
    ),
}
SELECTS = {
    "joined rows": Case(
        "SELECT a.s AS g, b.l + a.l AS h FROM a [9 MICROSECONDS], b [4 MICROSECONDS], "
        "c [6 MICROSECONDS] WHERE a.k = b.k AND b.k = c.k",
        (("time", 9, 0), ("time", 4, 0), ("time", 6, 0)),
        lambda r: same(r, "k"),
        (),
        lambda r: (r[0]["s"], added(r[1]["l"], r[0]["l"])),
    ),
    "joined rows of a slide and last rows": Case(
        "SELECT b.o AS g FROM a [RANGE 8 MICROSECONDS SLIDE 4 MICROSECONDS], b [ROWS 3] "
        "WHERE a.k = b.k",
        (("slide", 8, 4), ("rows", 3, 0)),
        lambda r: same(r, "k"),
        (),
        lambda r: (r[1]["o"],),
    ),
    "unmatched rows": Case(
        "SELECT a.s AS g FROM a [9 MICROSECONDS] LEFT ANTI JOIN b [3 MICROSECONDS] ON a.k = b.k",
        (("time", 9, 0), ("time", 3, 0)),
        lambda _: True,
        (),
        lambda r: (r[0]["s"],),
        (lambda r, row: same((r[0], row), "k"),),
    ),
    "unmatched by a condition": Case(
        "SELECT a.l AS g FROM a [9 MICROSECONDS] LEFT ANTI JOIN b [ROWS 3] "
        "ON a.k = b.k AND a.d > b.d",
        (("time", 9, 0), ("rows", 3, 0)),
        lambda _: True,
        (),
        lambda r: (r[0]["l"],),
        (lambda r, row: same((r[0], row), "k") and greater(r[0]["d"], row["d"]),),
    ),
    "unmatched in a join": Case(
        "SELECT a.s AS g, b.o AS h FROM a [9 MICROSECONDS], b [ROWS 3] LEFT ANTI JOIN "
        "c [3 MICROSECONDS] ON c.s = a.s AND c.l > a.l WHERE a.k = b.k",
        (("time", 9, 0), ("rows", 3, 0), ("time", 3, 0)),
        lambda r: same(r, "k"),
        (),
        lambda r: (r[0]["s"], r[1]["o"]),
        (lambda r, row: same((r[0], row), "s") and greater(row["l"], r[0]["l"]),),
    ),
    "twice unmatched": Case(
        "SELECT a.l AS g FROM a [9 MICROSECONDS] LEFT ANTI JOIN b [3 MICROSECONDS] ON a.k = b.k "
        "WHERE NOT EXISTS (SELECT 1 FROM c [5 MICROSECONDS] WHERE c.d > a.d)",
        (("time", 9, 0), ("time", 3, 0), ("time", 5, 0)),
        lambda _: True,
        (),
        lambda r: (r[0]["l"],),
        (
            lambda r, row: same((r[0], row), "k"),
            lambda r, row: greater(row["d"], r[0]["d"]),
        ),
    ),
}
SUMS_OF_UNMATCHED = {
    "sums of unmatched rows": Case(
        "SELECT a.o AS g, COUNT(*) AS n, SUM(a.d) AS s, COUNT(DISTINCT a.s) AS t "
        "FROM a [9 MICROSECONDS] LEFT ANTI JOIN b [3 MICROSECONDS] ON a.k = b.k GROUP BY a.o",
        (("time", 9, 0), ("time", 3, 0)),
        lambda _: True,
        (
            ("count", lambda _: None),
            ("measure", lambda r: r[0]["d"]),
            ("tally", lambda r: r[0]["s"]),
        ),
        lambda r: (r[0]["o"],),
        (lambda r, row: same((r[0], row), "k"),),
    ),
    "sums of a join with unmatched rows": Case(
        "SELECT COUNT(*) AS n, SUM(a.l) AS s FROM a [9 MICROSECONDS], b [ROWS 3] "
        "LEFT ANTI JOIN c [PARTITION BY k ROWS 1] ON c.o = b.o AND c.l > b.l WHERE a.k = b.k",
        (("time", 9, 0), ("rows", 3, 0), ("partition", 1, 0)),
        lambda r: same(r, "k"),
        (("count", lambda _: None), ("measure", lambda r: r[0]["l"])),
        negated=(lambda r, row: same((r[1], row), "o") and greater(row["l"], r[1]["l"]),),
    ),
}
ALL = CASES | EXTREMES | SELECTS | SUMS_OF_UNMATCHED
RUNS = [
    *((name, algorithm) for name in CASES for algorithm in ("incremental", "charged", "pipelined")),
    *((name, algorithm) for name in EXTREMES for algorithm in ("charged", "pipelined")),
    *((name, "results") for name in SELECTS),
    *((name, way) for name in SUMS_OF_UNMATCHED for way in ("incremental", "pipelined")),
]

values = st.fixed_dictionaries(
    {
        "k": st.sampled_from([0, 0, 0, 1, 1, None]),
        "l": st.sampled_from([0, 1, 2, -3, 7, 32_767, None]),
        "s": st.sampled_from(["x", "x", "y", None]),
        "d": st.sampled_from([0.0, -0.0, 0.5, 3.0, 0.1, 1e300, 5e-324, math.inf, math.nan, None]),
        "o": st.sampled_from([True, True, False]),
    }
)
Stream = list[tuple[int, Row]]
streams = st.lists(st.tuples(st.integers(0, 30), values), max_size=12)
cuts = st.lists(st.integers(0, END - 1), max_size=3, unique=True).map(sorted)


@pytest.mark.parametrize(("name", "algorithm"), RUNS, ids=[" by ".join(run) for run in RUNS])
@given(
    rows=st.tuples(streams, streams, streams),
    cuts=cuts,
    block=st.sampled_from([1, 2, 3, 7, 1000]),
    grid=st.sampled_from([1, 1, 1, 4]),
)
@example(rows=([], [], []), cuts=[], block=1, grid=1)
def test_every_instant_is_that_of_all_combinations(
    name: str,
    algorithm: str,
    rows: tuple[Stream, Stream, Stream],
    cuts: list[int],
    block: int,
    grid: int,
) -> None:
    case = ALL[name]
    plan = plan_of(case.text)
    shape = shape_of(plan)
    operator = PairOperator(plan, shape, grid, algorithm, block)
    shown = Shown(shape)
    before = -1
    for cut in [*cuts, END]:
        for input_index, stream in enumerate(rows[: len(plan.inputs)]):
            coming = [(at, row) for at, row in stream if before < at <= cut]
            operator.append(input_index, prepared(plan, input_index, coming))
        shown.take(operator.run(cut))
        before = cut
    for now in range(0, END - grid):
        if now % grid:
            continue
        shown.run(now)
        windows = [
            held(stream, window, now) for stream, window in zip(rows, case.windows, strict=False)
        ]
        assert plain(shown.groups) == plain(states(case, windows)), now


def prepared(plan: QueryPlan, input_index: int, stream: Stream) -> PreparedRows:
    name = plan.inputs[input_index].stream.name
    batch = batch_of(name, tuple({"ts": instant(at), **row} for at, row in stream))
    assert batch.schema == STREAMS[name].arrow
    return Preparer(plan, input_index).prepare(batch)


def plain(groups: dict[tuple[object, ...], tuple[object, ...]]) -> dict[str, str]:
    """States in a form in which NaN equals itself and 0.0 equals -0.0 and False is not 0."""
    return {repr(name): repr([_plain(value) for value in state]) for name, state in groups.items()}


def _plain(value: object) -> object:
    return value + 0.0 if isinstance(value, float) else value


def test_pipelined_pays_for_every_joined_row_and_charged_does_not() -> None:
    plan = plan_of("SELECT COUNT(*) AS n FROM a [1 SECOND], b [1 SECOND] WHERE a.k = b.k")
    sizes = {}
    for algorithm in ("pipelined", "charged", "incremental"):
        operator = PairOperator(plan, shape_of(plan), 1, algorithm)
        stream = [(at, {"k": 1}) for at in range(400)]
        empty = operator.nbytes
        for input_index in range(2):
            operator.append(input_index, prepared(plan, input_index, stream))
        operator.run(400)
        assert operator.joined_rows() == 160_000
        sizes[algorithm] = operator.nbytes - empty
        work = operator.work_done()
        assert (work.rows, work.probes, work.matches, work.kept) == (
            *((400, 400), 800, 160_000, 160_000),
        )
    assert sizes["pipelined"] > 160_000 * 8
    assert sizes["incremental"] < sizes["charged"] < sizes["pipelined"] / 10


def test_rows_come_back_as_they_were_prepared() -> None:
    plan = plan_of(
        "SELECT a.s AS s, MAX(a.d - b.d) AS m FROM a [PARTITION BY s ROWS 2], b [5 MICROSECONDS] "
        "WHERE a.k = b.k AND a.p > b.p AND a.s <> b.s GROUP BY a.s"
    )
    operator = PairOperator(plan, shape_of(plan), 1, "charged")
    row = {"k": 1, "s": "é", "d": -0.0, "l": 3}
    stream = [(1, row), (2, row | {"k": None}), (3, row | {"s": None, "d": math.nan}), (9, row)]
    batch = prepared(plan, 0, stream)
    operator.append(0, batch)
    operator.run(4)
    assert repr(operator.rows(0).to_pylist()) == repr(batch.batch.to_pylist())
    operator.run(9)
    assert repr(operator.rows(0).to_pylist()) == repr(batch.batch.slice(1).to_pylist())
    assert operator.row_counts() == [3, 0]


def test_an_incremental_extreme_is_a_mistake_of_the_caller() -> None:
    plan = plan_of("SELECT MAX(a.d) AS m FROM a [1 SECOND], b [1 SECOND] WHERE a.k = b.k")
    with pytest.raises(AssertionError, match="cannot be retracted"):
        PairOperator(plan, shape_of(plan), 1, "incremental")


def test_codes_without_joined_rows_are_forgotten() -> None:
    plan = plan_of(
        "SELECT a.l + b.k AS g, COUNT(DISTINCT a.l - b.k) AS t FROM a [2 MICROSECONDS], "
        "b [2 MICROSECONDS] GROUP BY a.l + b.k"
    )
    sizes = []
    operator = PairOperator(plan, shape_of(plan), 1, "charged")
    for first in range(0, 40_000, 4_000):
        at = np.arange(first, first + 4_000)
        for input_index, column in enumerate("lk"):
            stream = [(int(each), {column: int(each)}) for each in at]
            operator.append(input_index, prepared(plan, input_index, stream))
        operator.run(first + 3_999)
        sizes.append(operator.nbytes)
    assert sizes[-1] <= 1.1 * sizes[4], sizes
