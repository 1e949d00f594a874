"""A program that reads a topic into a session with a path, until it is killed or has all rows.

Its only argument is JSON: path, topic, servers, rows.
"""

from __future__ import annotations

import json
import sys
import time

import windrow

__all__ = ["KINDS", "TOTALS"]

KINDS = "ts timestamp, k string, x bigint"
TOTALS = "SELECT k, COUNT(*) AS n, SUM(x) AS x FROM s [10 DAYS] GROUP BY k"


def main() -> None:
    """Runs until the rows are in."""
    given = json.loads(sys.argv[1])
    session = windrow.connect(path=given["path"])
    source = windrow.sources.kafka(
        given["topic"], given["servers"], group="killed", max_offsets_per_batch=200
    )
    session.stream("s", KINDS, time="ts", lateness="1 day", source=source)
    session.query(TOTALS, name="totals")
    session.start_sources()
    while session.ledger()["rows_in"].to_pylist() != [given["rows"]]:
        time.sleep(0.05)
    session.stop_sources()
    session.stop()


if __name__ == "__main__":
    main()
