"""Connections between hosts, the rows of both queries: real ones from a file, or generated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from windrow.errors import DataError

__all__ = ["Connections", "read_connections", "zipf_connections"]

Longs = NDArray[np.int64]

COLUMNS = ("ts", "link", "src")
# Sources of generated connections: the share of the n-th is as n to the power of -ZIPF_POWER. With
# these a row finds about as many partners in a window as one of the honeypots' connections does.
SOURCES = 100_000
ZIPF_POWER = 0.8
DESTINATIONS = 9


@dataclass(frozen=True)
class Connections:
    """Source and destination of each connection as small numbers, in the order of time."""

    sources: Longs
    destinations: Longs

    @property
    def pairs(self) -> Longs:
        """Each source with its destination as one number."""
        return self.sources * (int(self.destinations.max()) + 1) + self.destinations

    def links(self) -> tuple[Longs, Longs]:
        """The sources on two links of about as many rows each, split by destination.

        >>> both = Connections(np.array([7, 8, 9, 7]), np.array([0, 1, 2, 1])).links()
        >>> [link.tolist() for link in both]
        [[8, 7], [7, 9]]
        """
        counts = np.bincount(self.destinations)
        first: set[int] = set()
        rows = [0, 0]
        for destination in np.argsort(-counts, kind="stable").tolist():
            is_second = rows[0] > rows[1]
            rows[is_second] += int(counts[destination])
            if not is_second:
                first.add(destination)
        is_first = np.isin(self.destinations, list(first))
        return self.sources[is_first], self.sources[~is_first]


def read_connections(path: Path) -> Connections:
    """The connections of a Parquet file with columns ts, link (the destination) and src."""
    try:
        with pq.ParquetFile(path) as opened:
            names = opened.schema_arrow.names
            lacking = [name for name in COLUMNS if name not in names]
            table = None if lacking else opened.read(list(COLUMNS))
    except (pa.ArrowException, OSError) as problem:
        message = f"{path.name} cannot be read as Parquet: {problem}"
        raise DataError("WD502", message, hint="give a Parquet file") from None
    if table is None:
        raise DataError(
            "WD505",
            f"{path.name} lacks column {lacking[0]!r}",
            hint="connections have the columns ts, link and src",
        )
    table = table.sort_by("ts")
    return Connections(_numbered(table["src"]), _numbered(table["link"]))


def zipf_connections(rows: int, seed: int) -> Connections:
    """Connections of few busy sources and many rare ones, to destinations chosen evenly."""
    rng = np.random.default_rng(seed)
    shares = np.cumsum(np.arange(1, SOURCES + 1) ** -ZIPF_POWER)
    sources = np.searchsorted(shares, rng.random(rows) * shares[-1]).astype(np.int64)
    return Connections(sources, rng.integers(0, DESTINATIONS, rows))


def _numbered(column: pa.ChunkedArray) -> Longs:
    texts = column.cast(pa.large_string()).combine_chunks()
    return np.asarray(texts.dictionary_encode().indices, np.int64)
