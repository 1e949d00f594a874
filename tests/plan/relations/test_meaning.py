"""What bound queries mean: the slow twin of the algebra against DuckDB, on the same texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.relation_texts import BUSY, CATALOG, HELD, QUERIES, STREAMS, rows_of
from support.slow_relations import SeveralRowsError, slow_rows
from windrow.plan.relations.binder import bind_query
from windrow.sql import parse_query

Held = Mapping[str, Sequence[Mapping[str, Any]]]
# DuckDB counts rows of several values, those with a NULL in them too.
PAIRS = "COUNT(DISTINCT (k, s)) FILTER (WHERE k IS NOT NULL AND s IS NOT NULL)"
KEYS = st.sampled_from([None, 1, 2, 3])
NUMBERS = st.sampled_from([None, -1, 0, 10, 11, 30])
TEXTS = st.sampled_from([None, "u", "v", "w"])
PRICES = st.sampled_from([None, Decimal("0.10"), Decimal("1.00"), Decimal("2.50")])
FLOATS = st.sampled_from([None, 0.0, -0.0, 1.5, math.nan])
FLAGS = st.sampled_from([None, True, False])


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
    yield connection
    connection.close()


@pytest.mark.parametrize("text", QUERIES)
def test_it_means_what_duckdb_says(text: str, database: duckdb.DuckDBPyConnection) -> None:
    _hold(database, HELD)
    _check(text, HELD, database)


@given(
    text=st.sampled_from(QUERIES),
    a=st.lists(st.tuples(KEYS, NUMBERS, TEXTS, PRICES, FLOATS), max_size=6),
    b=st.lists(st.tuples(KEYS, NUMBERS, TEXTS, FLAGS), max_size=6),
    c=st.lists(st.tuples(NUMBERS, TEXTS), max_size=4),
)
def test_it_means_the_same_over_other_rows(
    text: str, a: list[Any], b: list[Any], c: list[Any], database: duckdb.DuckDBPyConnection
) -> None:
    rows = (a, b, c, [])
    held = {stream.name: rows_of(stream, *each) for stream, each in zip(STREAMS, rows, strict=True)}
    _hold(database, held)
    _check(text, held, database)


def test_a_value_of_two_rows_is_an_error() -> None:
    bound = bind_query(parse_query("SELECT (SELECT y FROM b [9]) AS y FROM a [9]"), CATALOG)
    with pytest.raises(SeveralRowsError):
        slow_rows(bound.relation, HELD)


def _check(text: str, held: Held, database: duckdb.DuckDBPyConnection) -> None:
    bound = bind_query(parse_query(text), CATALOG)
    plain = text.replace(" [9]", "").replace("COUNT(DISTINCT k, s)", PAIRS)
    try:
        ours = [row[: len(bound.outputs)] for row in slow_rows(bound.relation, held)]
    except SeveralRowsError:
        with pytest.raises(duckdb.Error, match="More than one row"):
            database.execute(plain).fetchall()
        return
    assert _counted(ours) == _counted(database.execute(plain).fetchall())


def _hold(database: duckdb.DuckDBPyConnection, held: Held) -> None:
    database.execute("DROP VIEW IF EXISTS busy")
    for stream in STREAMS:
        database.register("given", pa.Table.from_pylist(list(held[stream.name]), stream.arrow))
        database.execute(f"CREATE OR REPLACE TABLE {stream.name} AS SELECT * FROM given")
    database.execute(f"CREATE VIEW busy AS {BUSY.replace(' [9]', '')}")


def _counted(rows: Iterable[Iterable[Any]]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(map(_plain, row)) for row in rows)


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else round(value, 9) + 0.0
    return value.astimezone(UTC) if isinstance(value, datetime) else value
