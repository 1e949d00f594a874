"""Packets on a backbone and its branches: where they came from, and who scans ports.

Real connections can be given instead: `--data honeypot_connections.parquet`, a Parquet file with
ts, link, src and dst_port. One of its links is then the backbone, the others are the branches.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from make_data import BACKBONE, BRANCH, network

import windrow

QUERIES = {
    "from_branches": """
        SELECT branch.site, COUNT(DISTINCT backbone.packet) AS packets
        FROM backbone [1 HOUR], branch [1 HOUR]
        WHERE backbone.src = branch.src
        GROUP BY branch.site
        EVERY (30 MINUTES)""",
    "scans": """
        SELECT src, COUNT(DISTINCT dst_port) AS ports
        FROM backbone [5 MINUTES]
        GROUP BY src HAVING COUNT(DISTINCT dst_port) > 20
        EVERY (1 MINUTE)""",
    "strangers": """
        SELECT DISTINCT src FROM backbone [10 MINUTES] AS packets
        WHERE dst_port = 22
          AND NOT EXISTS (SELECT 1 FROM branch [1 HOUR] WHERE branch.src = packets.src)""",
}
BATCH_ROWS = 20_000


def watch(links: Mapping[str, pa.Table], lateness: str = "0 seconds") -> dict[str, pa.Table]:
    """Every answer of the first two queries, and every change of the third."""
    session = windrow.connect()
    session.stream("backbone", BACKBONE, time="ts", lateness=lateness)
    session.stream("branch", BRANCH, time="ts", lateness=lateness)
    queries = {name: session.query(text, name=name) for name, text in QUERIES.items()}
    readers = {
        "from_branches": queries["from_branches"].answers,
        "scans": queries["scans"].answers,
        "strangers": queries["strangers"].changes,
    }
    found: dict[str, list[pa.Table]] = {name: [] for name in readers}
    # As a feed would bring them: some at a time, and what is new is read on the way.
    for begin in range(0, max(rows.num_rows for rows in links.values()), BATCH_ROWS):
        for name, rows in links.items():
            session.push(name, rows.slice(begin, BATCH_ROWS))
        for name, read in readers.items():
            found[name].append(read())
    session.finish()
    tables = {name: pa.concat_tables([*found[name], read()]) for name, read in readers.items()}
    return {**tables, "ledger": session.ledger()}


def scanners(scans: pa.Table) -> Iterator[tuple[str, pa.Scalar, pa.Scalar, int]]:
    """Each host that scanned: from when to when it was seen to, and its most ports."""
    rows = sorted(scans.to_pylist(), key=lambda row: (row["src"], row["at"]))
    for src, group in groupby(rows, key=lambda row: row["src"]):
        seen = list(group)
        yield src, seen[0]["at"], seen[-1]["at"], max(row["ports"] for row in seen)


def real_links(path: Path, backbone: str) -> dict[str, pa.Table]:
    """Connections of a file in its own order: those of one link, and those of all others."""
    rows = pq.read_table(path, columns=["ts", "link", "src", "dst_port"])
    rows = rows.set_column(1, "link", rows["link"].cast(pa.string()))
    rows = rows.append_column("packet", pa.array(range(rows.num_rows)))
    is_backbone = pc.equal(rows["link"], backbone)
    sides = {"backbone": rows.filter(is_backbone), "branch": rows.filter(pc.invert(is_backbone))}
    sides["branch"] = sides["branch"].rename_columns({"link": "site"})
    schemas = {"backbone": BACKBONE, "branch": BRANCH}
    return {name: table.select(schemas[name].names) for name, table in sides.items()}


def main() -> None:
    """Shows who scanned, where packets came from at the end, and how many strangers there were."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="real connections, as Parquet")
    parser.add_argument("--backbone", default="groucho-tokyo", help="their link to watch")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.data:
        # The links' records were put together without care for time: up to 1346 s too late.
        found = watch(real_links(given.data, given.backbone), lateness="30 minutes")
    else:
        found = watch(network(given.seed).links)
    print("hosts that tried more than 20 ports in 5 minutes:")
    for src, first, last, ports in scanners(found["scans"]):
        print(f"  {src}: {first:%d %b %H:%M} to {last:%d %b %H:%M}, at most {ports} ports")
    answers = found["from_branches"].to_pylist()
    for row in answers:
        if row["at"] == answers[-1]["at"]:
            shown = f"{row['packets']:,} packets from hosts of {row['site']}"
            print(f"in the hour to {row['at']:%d %b %H:%M}: {shown}")
    came = pc.sum(pc.equal(found["strangers"]["change"], 1)).as_py()
    print(f"strangers on port 22: came {came} times")
    for row in found["ledger"].to_pylist():
        print(f"{row['stream']}: {row['rows_in']:,} rows, {row['late']} late")


if __name__ == "__main__":
    main()
