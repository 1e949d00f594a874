"""Trades and quotes: spread, average price, rises, and how good answers are when memory is short.

Trades can come at times of a real process: `--data ita_interarrivals.parquet`, a Parquet file with
gap_us, the gaps between packets on a network. They are far burstier than a Poisson process.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from make_data import QUOTE, TRADE, market

import windrow

QUERIES = {
    "spread": """
        SELECT symbol, AVG(ask - bid) AS spread, MAX(ask - bid) AS widest
        FROM quotes [1 MINUTE]
        GROUP BY symbol HAVING MAX(ask - bid) > 0.2
        EVERY (1 MINUTE)""",
    "vwap": """
        SELECT symbol, SUM(price * size) / SUM(size) AS vwap, SUM(size) AS shares
        FROM trades [RANGE 5 MINUTES SLIDE 1 MINUTE]
        GROUP BY symbol""",
    "rises": """
        SELECT later.symbol, MAX(later.price - earlier.price) AS rise
        FROM trades [1 MINUTE] AS later, trades [5 MINUTES] AS earlier
        WHERE later.symbol = earlier.symbol AND later.ts > earlier.ts
          AND later.price >= earlier.price * 1.03
        GROUP BY later.symbol
        EVERY (1 MINUTE)""",
}
ACTIVITY = """
    SELECT COUNT(*) AS trades, SUM(size) AS shares
    FROM trades [10 MINUTES]
    ERROR (20%) EVERY (5 SECONDS)"""
BATCH_ROWS = 100


def watch(streams: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Every answer of the three queries."""
    session = windrow.connect()
    session.stream("trades", TRADE, time="ts")
    session.stream("quotes", QUOTE, time="ts")
    queries = {name: session.query(text, name=name) for name, text in QUERIES.items()}
    for name, rows in streams.items():
        session.push(name, rows)
    session.finish()
    return {name: query.answers() for name, query in queries.items()}


def activity(trades: pa.Table, memory: str) -> tuple[pa.Table, pa.Table]:
    """How much was traded, within a fifth at worst, in so much memory; and why widths changed."""
    session = windrow.connect(memory=memory)
    session.stream("trades", TRADE, time="ts")
    query = session.query(ACTIVITY, name="activity")
    # As a feed would bring them: a few at a time, so that the budget is looked after on the way.
    for batch in trades.to_batches(max_chunksize=BATCH_ROWS):
        session.push("trades", batch)
    session.finish()
    return query.answers(), session.decisions()


def real_gaps(path: Path) -> pa.Array:
    """The gaps of the first trace of a file, in microseconds."""
    rows = pq.read_table(path, columns=["trace", "gap_us"])
    first = pc.equal(rows["trace"].cast(pa.string()), rows["trace"][0].as_py())
    return rows.filter(first)["gap_us"].combine_chunks()


def main() -> None:
    """Shows the rises and spreads of the news, prices at the end, and the levels of answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="real gaps between arrivals, as Parquet")
    parser.add_argument("--memory", default="124 KB", help="the budget of the last query")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    gaps = real_gaps(given.data).to_numpy() if given.data else None
    streams = market(given.seed, gaps)
    found = watch(streams)
    for row in islice(found["rises"].to_pylist(), 3):
        print(f"{row['at']:%H:%M}  {row['symbol']} up by {row['rise']} within five minutes")
    for row in islice(found["spread"].to_pylist(), 3):
        print(
            f"{row['at']:%H:%M}  {row['symbol']} spread {row['spread']:.3f}, up to {row['widest']}"
        )
    last = found["vwap"]["at"][-1].as_py()
    for row in found["vwap"].to_pylist():
        if row["at"] == last:
            print(f"{last:%H:%M}  {row['symbol']} {row['vwap']:.4f} for {row['shares']:,} shares")
    answers, decisions = activity(streams["trades"], given.memory)
    levels = Counter(answers["level"].to_pylist())
    print(f"with {given.memory}: {dict(sorted(levels.items()))} answers by level,")
    print(f"  the largest bound of an error {pc.max(answers['error_bound']).as_py() or 0:.1%},")
    print(f"  {decisions.num_rows} decisions on the width of the window")


if __name__ == "__main__":
    main()
