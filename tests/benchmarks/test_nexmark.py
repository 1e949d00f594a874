"""NEXMark: what the generator promises, and every query against DuckDB at some instants."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest
from nexmark.events import streams
from nexmark.live import checked, tables_of
from nexmark.queries import QUERIES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "nexmark.md"
# 24 seconds: windows of 10 seconds fill, and rows leave them.
EVENTS, PER_SECOND, INSTANTS = 4_800, 200, 5

CASES = [
    pytest.param(name, is_windowed, id=f"{name}-windowed" if is_windowed else name)
    for name, query in QUERIES.items()
    for is_windowed in (False, True)
    if query.reads_whole_streams or not is_windowed
]


@pytest.mark.parametrize(("name", "is_windowed"), CASES)
def test_a_query_gives_what_duckdb_computes(name: str, is_windowed: bool) -> None:
    query = QUERIES[name]
    tables = tables_of(query, streams(EVENTS, per_second=PER_SECOND, seed=11))
    assert checked(query, tables, is_windowed=is_windowed, instants=INSTANTS)


def test_the_page_says_how_each_query_differs_from_the_published_one() -> None:
    assert list(QUERIES) == [f"q{number}" for number in range(23)]
    lines = [line.split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| q")]
    said = {parts[0].strip("| "): parts[2].strip() for parts in lines}
    assert said == {name: query.compared for name, query in QUERIES.items()}


def test_of_50_events_one_is_a_person_and_three_are_auctions() -> None:
    made = streams(10_000)
    counts = [made.person.num_rows, made.auction.num_rows, made.bid.num_rows]
    assert counts == [200, 600, 9_200]


def test_the_same_seed_gives_the_same_rows() -> None:
    assert streams(5_000, seed=3) == streams(5_000, seed=3)
    assert streams(5_000, seed=3) != streams(5_000, seed=4)


def test_bids_refer_to_auctions_and_persons_that_exist() -> None:
    made = streams(50_000)
    newest = dict(
        zip(*(made.auction[name].to_pylist() for name in ("id", "dateTime")), strict=True)
    )
    joined = dict(zip(*(made.person[name].to_pylist() for name in ("id", "dateTime")), strict=True))
    for bid in made.bid.slice(40_000, 500).to_pylist():
        assert newest[bid["auction"]] <= bid["dateTime"]
        assert joined[bid["bidder"]] <= bid["dateTime"]
    for auction in made.auction.slice(2_000, 500).to_pylist():
        assert joined[auction["seller"]] <= auction["dateTime"] < auction["expires"]


def test_half_of_the_bids_are_on_hot_auctions() -> None:
    bids = streams(200_000).bid
    hot = np.mean(bids["auction"].to_numpy() % 100 == 0)
    assert 0.48 < hot < 0.54
    assert 0.73 < np.mean(bids["bidder"].to_numpy() % 100 == 1) < 0.79


def test_prices_spread_over_orders_of_magnitude() -> None:
    digits = np.floor(np.log10(streams(200_000).bid["price"].to_numpy()))
    shares = np.bincount(digits.astype(np.int64))[2:8] / digits.size
    assert np.all(np.abs(shares - 1 / 6) < 0.01)


def test_times_do_not_decrease() -> None:
    for table in streams(20_000).tables.values():
        at = table["dateTime"].cast("int64").to_numpy()
        assert np.all(np.diff(at) >= 0)
        assert pc.min(table["dateTime"]).as_py().year == 2026
