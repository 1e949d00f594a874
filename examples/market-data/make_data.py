"""An hour of trades and quotes of six symbols, with news at half past that sends one of them up.

The same seed gives the same hour. With the news come a rise in price, wider quotes and seven times
the trades. Times can come from a real process of arrivals instead of a Poisson process.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

START = datetime(2026, 3, 2, 14, 30, tzinfo=UTC)
START_US = int(START.timestamp()) * 1_000_000
SECOND_US = 1_000_000
HOUR_US = 3_600 * SECOND_US
NEWS_US = HOUR_US // 2
RUSH_US = 300 * SECOND_US  # how long the news keeps everybody busy
NEWS_SYMBOL = "EMBR"
SYMBOLS = {"ALDR": 41.0, "BRCH": 128.5, "CEDR": 17.2, "DRFT": 66.4, "EMBR": 83.0, "FERN": 9.8}
TRADES, QUOTES = 6_000, 12_000

CENTS = pa.decimal128(8, 2)
STAMP = pa.timestamp("us", tz="UTC")
TRADE = pa.schema([("ts", STAMP), ("symbol", pa.string()), ("price", CENTS), ("size", pa.int32())])
QUOTE = pa.schema([("ts", STAMP), ("symbol", pa.string()), ("bid", CENTS), ("ask", CENTS)])


def market(seed: int, gaps_us: np.ndarray | None = None) -> dict[str, pa.Table]:
    """Trades and quotes of that seed in the order of their times; gaps: between all trades."""
    random = np.random.default_rng(seed)
    times, symbols = _events(random, TRADES, gaps_us)
    noise = random.normal(0.0, 0.0004, times.size)
    prices = np.round(_prices(seed, times, symbols) * (1 + noise), 2)
    sizes = 100 * random.geometric(0.4, times.size)
    trades = [_stamps(times), symbols, _cents(prices), sizes]
    times, symbols = _events(random, QUOTES, None)
    middle = _prices(seed, times, symbols)
    busy = (symbols == NEWS_SYMBOL) & (times >= NEWS_US) & (times < NEWS_US + RUSH_US)
    half = np.round(middle * random.uniform(0.0002, 0.0006, times.size) * np.where(busy, 4, 1), 2)
    half = np.maximum(half, 0.01)
    bids, asks = np.round(middle - half, 2), np.round(middle + half, 2)
    quotes = [_stamps(times), symbols, _cents(bids), _cents(asks)]
    return {"trades": pa.table(trades, schema=TRADE), "quotes": pa.table(quotes, schema=QUOTE)}


def _events(
    random: np.random.Generator, count: int, gaps_us: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Times since the start, and the symbol of each; one symbol has a rush after the news."""
    if gaps_us is None:
        times = random.integers(0, HOUR_US, count)
    else:
        times = np.cumsum(gaps_us[:count].astype(np.int64))
        times = times * HOUR_US // (times[-1] + 1)
    symbols = random.choice(list(SYMBOLS), count)
    rush = NEWS_US + random.exponential(RUSH_US / 3, count // 6).astype(np.int64)
    rush = rush[rush < HOUR_US]
    times = np.concatenate([times, rush])
    symbols = np.concatenate([symbols, np.full(rush.size, NEWS_SYMBOL)])
    order = np.argsort(times, kind="stable")
    return times[order], symbols[order]


def _prices(seed: int, times_us: np.ndarray, symbols: np.ndarray) -> np.ndarray:
    """The price of each symbol at each time: a random walk by the second, and the news."""
    seconds = times_us // SECOND_US
    prices = np.empty(times_us.size)
    for index, (symbol, start) in enumerate(SYMBOLS.items()):
        steps = np.random.default_rng([seed, index]).normal(0.0, 0.00008, 3_601)
        if symbol == NEWS_SYMBOL:
            begin = NEWS_US // SECOND_US
            steps[begin : begin + 90] += 0.0005
        of_symbol = symbols == symbol
        prices[of_symbol] = (start * np.exp(np.cumsum(steps)))[seconds[of_symbol]]
    return prices


def _stamps(since_start_us: np.ndarray) -> pa.Array:
    return pa.array(START_US + since_start_us).cast(STAMP)


def _cents(prices: np.ndarray) -> pa.Array:
    return pa.array(prices).cast(CENTS)


def main() -> None:
    """Writes trades.parquet and quotes.parquet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the files go")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, table in market(given.seed).items():
        pq.write_table(table, given.folder / f"{name}.parquet")
        print(f"{given.folder / name}.parquet: {table.num_rows:,} rows")


if __name__ == "__main__":
    main()
