"""Three hours of packets on a backbone and on the links of three branches, with two port scans.

The same seed gives the same packets. Two scans are set, one from outside and one from a host of a
branch; a slow walk through as many ports, and a busy monitor of few, must not be taken for one.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
START_US = int(START.timestamp()) * 1_000_000
SECOND_US = 1_000_000
MINUTE_US = 60 * SECOND_US
HOURS = 3
SITES = ("harbour", "north", "south")
HOSTS_A_SITE = 12
OUTSIDERS = 40
PORTS = np.array([22, 25, 53, 80, 123, 443, 993, 8080], dtype=np.int32)
SHARES = np.array([0.01, 0.04, 0.25, 0.1, 0.05, 0.5, 0.03, 0.02])
LEAVING = 0.6  # the share of a branch's packets that goes on over the backbone

BACKBONE = pa.schema(
    [
        ("ts", pa.timestamp("us", tz="UTC")),
        ("packet", pa.int64()),
        ("src", pa.string()),
        ("dst_port", pa.int32()),
    ]
)
BRANCH = pa.schema(
    [("ts", pa.timestamp("us", tz="UTC")), ("site", pa.string()), ("src", pa.string())]
)


@dataclass(frozen=True)
class Scan:
    """A host that tries many ports, from when to when."""

    src: str
    begin_us: int
    end_us: int


@dataclass(frozen=True)
class Network:
    """The packets by link in the order of their times, and the scans among them."""

    links: dict[str, pa.Table]
    scans: tuple[Scan, ...]


def network(seed: int) -> Network:
    """The network of that seed."""
    random = np.random.default_rng(seed)
    seen, site, src = _branch_packets(random)
    gone = random.random(seen.size) < LEAVING
    backbone = [
        (seen[gone] + random.integers(200, 30_000, gone.sum()), src[gone], _ports(random, gone)),
        _outside_packets(random),
        _walk(random, "outside-07", 0, HOURS * 60, 300),  # slow: never many in five minutes
        _monitor(random, "outside-11"),
    ]
    scans = (
        Scan("outside-23", START_US + 70 * MINUTE_US, START_US + 73 * MINUTE_US),
        Scan("south-04", START_US + 125 * MINUTE_US, START_US + 129 * MINUTE_US),
    )
    for scan in scans:
        first, last = ((t - START_US) // MINUTE_US for t in (scan.begin_us, scan.end_us))
        backbone.append(_walk(random, scan.src, first, last, 150))
    times, sources, ports = (np.concatenate(column) for column in zip(*backbone, strict=True))
    order = np.argsort(times, kind="stable")
    packets = np.arange(1, times.size + 1)
    columns = [_stamps(times[order]), packets, sources[order], ports[order]]
    links = {
        "backbone": pa.table(columns, schema=BACKBONE),
        "branch": pa.table([_stamps(seen), site, src], schema=BRANCH),
    }
    return Network(links, scans)


def _branch_packets(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What passes the branches' links: bursts of packets, one host each."""
    times, sites, sources = [], [], []
    for site in SITES:
        for host in range(HOSTS_A_SITE):
            bursts = random.uniform(0, HOURS * 60, random.integers(4, 25)) * MINUTE_US
            for begin in bursts.astype(np.int64):
                gaps = random.exponential(2 * SECOND_US, random.integers(5, 80)).astype(np.int64)
                burst = START_US + begin + np.cumsum(gaps)
                times.append(burst)
                sites.append(np.full(burst.size, site))
                # A few laptops are carried about: on some days a host of the north is in the south.
                home = "north" if site == "south" and host < 2 else site
                sources.append(np.full(burst.size, f"{home}-{host:02d}"))
    columns = [np.concatenate(each) for each in (times, sites, sources)]
    order = np.argsort(columns[0], kind="stable")
    return columns[0][order], columns[1][order], columns[2][order]


def _outside_packets(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = HOURS * 3_600
    times = START_US + random.integers(0, HOURS * 60 * MINUTE_US, count)
    hosts = random.integers(0, OUTSIDERS, count)
    return times, np.array([f"outside-{host:02d}" for host in hosts]), _ports(random, hosts)


def _ports(random: np.random.Generator, like: np.ndarray) -> np.ndarray:
    size = int(like.sum()) if like.dtype == bool else like.size
    return random.choice(PORTS, size, p=SHARES)


def _walk(
    random: np.random.Generator, src: str, first_minute: int, last_minute: int, ports: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A host that tries that many different ports, one after the other."""
    span = (last_minute - first_minute) * MINUTE_US
    times = START_US + first_minute * MINUTE_US + np.linspace(0, span, ports).astype(np.int64)
    tried = random.permutation(np.arange(1, 1024, dtype=np.int32))[:ports]
    return times, np.full(ports, src), tried


def _monitor(random: np.random.Generator, src: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A host that asks the same few ports again and again."""
    times = START_US + np.arange(0, HOURS * 60 * MINUTE_US, 3 * SECOND_US, dtype=np.int64)
    return times, np.full(times.size, src), random.choice(PORTS, times.size)


def _stamps(times_us: np.ndarray) -> pa.Array:
    return pa.array(times_us).cast(pa.timestamp("us", tz="UTC"))


def main() -> None:
    """Writes backbone.parquet and branch.parquet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the files go")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, table in network(given.seed).links.items():
        pq.write_table(table, given.folder / f"{name}.parquet")
        print(f"{given.folder / name}.parquet: {table.num_rows:,} rows")


if __name__ == "__main__":
    main()
