"""Query 1: rows of two links joined on their source, each living until its older part leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from papers.live_results.result_stream import ResultStream, Span, Timing, stamped

__all__ = ["joined_results"]

Longs = NDArray[np.int64]
TURNS = (0.25, 0.75)  # the links' rows come in turns


@dataclass(frozen=True)
class _Arrivals:
    """The rows of both links in one order."""

    stamps: Longs
    links: Longs
    sources: Longs


@dataclass(frozen=True)
class _Partners:
    """For each arrival a range of the rows of the other link, these sorted by source."""

    begins: Longs
    counts: Longs
    stamps: tuple[Longs, Longs]  # of the links' sorted rows


def joined_results(links: tuple[Longs, Longs], timing: Timing, span: Span) -> ResultStream:
    """Each arrival joins all live rows of its source on the other link, oldest first."""
    arrivals = _merged(links, timing)
    partners = _partners(arrivals, timing.window_us)
    rows = _rows_needed(arrivals, partners, timing.window_us, span)
    counts = partners.counts[:rows]
    births = np.repeat(arrivals.stamps[:rows], counts)
    expiries = np.empty(births.size, np.int64)
    ends = np.cumsum(counts)
    places = np.arange(births.size) + np.repeat(partners.begins[:rows] - ends + counts, counts)
    others = np.repeat(1 - arrivals.links[:rows], counts).astype(bool)
    for other, stamps in enumerate(partners.stamps):
        of_it = others == bool(other)
        expiries[of_it] = stamps[places[of_it]] + timing.window_us
    return ResultStream.of(births, expiries, timing.window_us)


def _merged(links: tuple[Longs, Longs], timing: Timing) -> _Arrivals:
    count = min(link.size for link in links)
    rates = (timing.rows_per_s, timing.slide_us)
    stamps = np.stack([stamped(count, *rates, turn) for turn in TURNS], axis=1).ravel()
    sources = np.stack([link[:count] for link in links], axis=1).ravel()
    return _Arrivals(stamps, np.tile([0, 1], count), sources)


def _partners(arrivals: _Arrivals, window_us: int) -> _Partners:
    total = arrivals.stamps.size
    places = np.arange(total)
    oldest = np.searchsorted(arrivals.stamps, arrivals.stamps - window_us, side="right")
    begins, counts = np.empty(total, np.int64), np.empty(total, np.int64)
    sorted_stamps = []
    for link in (0, 1):
        of_it = places[arrivals.links == link]
        codes = np.sort(arrivals.sources[of_it] * total + of_it)
        sorted_stamps.append(arrivals.stamps[codes % total])
        probing = places[arrivals.links != link]
        base = arrivals.sources[probing] * total
        begins[probing] = np.searchsorted(codes, base + oldest[probing])
        counts[probing] = np.searchsorted(codes, base + probing) - begins[probing]
    return _Partners(begins, counts, (sorted_stamps[0], sorted_stamps[1]))


def _rows_needed(arrivals: _Arrivals, partners: _Partners, window_us: int, span: Span) -> int:
    """Rows until the span is over: both its windows and its results."""
    formed = np.append(0, np.cumsum(partners.counts))
    full = int(np.searchsorted(arrivals.stamps, window_us, side="right"))
    enough = int(np.searchsorted(formed, formed[full] + span.results))
    end_us = round(window_us * (1 + span.windows))
    over = int(np.searchsorted(arrivals.stamps, end_us, side="right"))
    return min(arrivals.stamps.size, max(enough, over))
