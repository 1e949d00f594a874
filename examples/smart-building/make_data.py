"""Half an hour of heat and smoke in a building with a few fires: the building of `windrow demo`.

The same seed gives the same building. Beside the fires somebody cooks, somebody solders, and two
sensors go wrong for a moment: heat alone, smoke alone and both for too short must not alarm.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from windrow.apps.demo.building import Fire, building


def readings(seed: int) -> tuple[dict[str, pa.Table], tuple[Fire, ...]]:
    """All readings by stream, in the order of their delivery, and the fires behind them."""
    made = building(seed)
    streams = {
        name: pa.concat_tables([part.rows[name] for part in made.slices]).combine_chunks()
        for name in ("temp", "smoke")
    }
    return streams, made.fires


def main() -> None:
    """Writes temp.parquet and smoke.parquet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the files go")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, table in readings(given.seed)[0].items():
        pq.write_table(table, given.folder / f"{name}.parquet")
        print(f"{given.folder / name}.parquet: {table.num_rows:,} rows")


if __name__ == "__main__":
    main()
