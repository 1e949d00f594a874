"""The three streams of NEXMark: of every 50 events one person, three auctions and 46 bids.

Written from NEXMark's published description: the proportions, the skew (hot auctions, bidders and
sellers), ids that refer to recent persons and auctions, prices that spread evenly over the orders
of magnitude. Each column is drawn at once, so millions of rows a second are made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nexmark import words

__all__ = ["SCHEMAS", "Streams", "streams"]

Vector = NDArray[np.int64]

SCHEMAS = {
    "person": (
        "id bigint, name string, emailAddress string, creditCard string, city string, state string,"
        " dateTime timestamp, extra string"
    ),
    "auction": (
        "id bigint, itemName string, description string, initialBid bigint, reserve bigint,"
        " dateTime timestamp, expires timestamp, seller bigint, category bigint, extra string"
    ),
    "bid": (
        "auction bigint, bidder bigint, price bigint, channel string, url string,"
        " dateTime timestamp, extra string"
    ),
}

# 2026-01-01 00:00 UTC, in microseconds: where event time begins.
BEGIN_US = 1_767_225_600_000_000
IN_A_ROUND = 50  # events: first a person, then auctions, then bids
AUCTIONS_IN_A_ROUND = 3
BIDS_IN_A_ROUND = IN_A_ROUND - 1 - AUCTIONS_IN_A_ROUND
FIRST_ID = 1_000  # of persons and of auctions
CATEGORIES = (10, 15)  # from, and to before
RECENT_PERSONS = 1_000
RECENT_AUCTIONS = 100  # so many are open at once
HOT_EVERY = 100  # of so many ids, the first is hot
HOT_AUCTIONS = 1 / 2  # the share of bids on the hot auction
HOT_BIDDERS = 3 / 4
HOT_SELLERS = 3 / 4


@dataclass(frozen=True)
class Streams:
    """The rows of each, in order of time."""

    person: pa.Table
    auction: pa.Table
    bid: pa.Table

    @property
    def tables(self) -> dict[str, pa.Table]:
        """By name of stream."""
        return {"person": self.person, "auction": self.auction, "bid": self.bid}


def streams(events: int, *, per_second: int = 10_000, seed: int = 7) -> Streams:
    """So many events, rounded down to whole rounds of 50, at even steps of event time."""
    rounds = np.arange(events // IN_A_ROUND)
    random = np.random.default_rng(seed)
    auction_rounds = np.repeat(rounds, AUCTIONS_IN_A_ROUND)
    bid_rounds = np.repeat(rounds, BIDS_IN_A_ROUND)
    auction_places = np.tile(np.arange(AUCTIONS_IN_A_ROUND), rounds.size) + 1
    bid_places = np.tile(np.arange(BIDS_IN_A_ROUND), rounds.size) + 1 + AUCTIONS_IN_A_ROUND
    return Streams(
        _persons(rounds, _times_us(rounds, 0, per_second), random),
        _auctions(auction_rounds, auction_places, per_second, random),
        _bids(bid_rounds, _times_us(bid_rounds, bid_places, per_second), random),
    )


def _times_us(rounds: Vector, places: Vector | int, per_second: int) -> Vector:
    """Whole milliseconds, as NEXMark's times are: several events may share one."""
    events = rounds * IN_A_ROUND + places
    return BEGIN_US + events * 1_000 // per_second * 1_000


def _persons(rounds: Vector, at: Vector, random: np.random.Generator) -> pa.Table:
    size = rounds.size
    states = random.integers(0, len(words.STATES), size)
    names = random.integers(0, len(words.NAMES), size)
    columns = {
        "id": FIRST_ID + rounds,
        "name": words.chosen(words.NAMES, names),
        "emailAddress": words.chosen(words.EMAILS, names),
        "creditCard": words.drawn(words.CREDIT_CARDS, size, random),
        "city": words.drawn(words.CITIES, size, random),
        "state": words.chosen(words.STATES, states),
        "dateTime": _timestamps(at),
        "extra": words.drawn(words.EXTRAS, size, random),
    }
    return pa.table(columns)


def _auctions(
    rounds: Vector, places: Vector, per_second: int, random: np.random.Generator
) -> pa.Table:
    size = rounds.size
    at = _times_us(rounds, places, per_second)
    first_bids = _prices(size, random)
    # An auction is open while about as many others as are open at once begin.
    events_open = RECENT_AUCTIONS * IN_A_ROUND // AUCTIONS_IN_A_ROUND
    open_ms = 1 + random.integers(0, max(2 * events_open * 1_000 // per_second, 1), size)
    columns = {
        "id": FIRST_ID + rounds * AUCTIONS_IN_A_ROUND + places - 1,
        "itemName": words.drawn(words.ITEMS, size, random),
        "description": words.drawn(words.DESCRIPTIONS, size, random),
        "initialBid": first_bids,
        "reserve": first_bids + _prices(size, random),
        "dateTime": _timestamps(at),
        "expires": _timestamps(at + open_ms * 1_000),
        "seller": _recent(rounds, RECENT_PERSONS, HOT_SELLERS, 0, random),
        "category": random.integers(*CATEGORIES, size),
        "extra": words.drawn(words.EXTRAS, size, random),
    }
    return pa.table(columns)


def _bids(rounds: Vector, at: Vector, random: np.random.Generator) -> pa.Table:
    size = rounds.size
    newest_auctions = (rounds + 1) * AUCTIONS_IN_A_ROUND - 1
    channels = words.drawn_channels(size, random)
    columns = {
        "auction": _recent(newest_auctions, RECENT_AUCTIONS, HOT_AUCTIONS, 0, random),
        # Hot bidders are others than hot sellers.
        "bidder": _recent(rounds, RECENT_PERSONS, HOT_BIDDERS, 1, random),
        "price": _prices(size, random),
        "channel": words.chosen(words.CHANNELS, channels),
        "url": words.chosen(words.URLS, channels),
        "dateTime": _timestamps(at),
        "extra": words.drawn(words.EXTRAS, size, random),
    }
    return pa.table(columns)


def _recent(
    newest: Vector, width: int, hot_share: float, hot_place: int, random: np.random.Generator
) -> Vector:
    """Ids that exist already: the hot one of the newest hundred, or any of the newest `width`."""
    hot = np.minimum(newest // HOT_EVERY * HOT_EVERY + hot_place, newest)
    age = (random.random(newest.size) * np.minimum(newest + 1, width)).astype(np.int64)
    is_hot = random.random(newest.size) < hot_share
    return FIRST_ID + np.where(is_hot, hot, newest - age)


def _prices(size: int, random: np.random.Generator) -> Vector:
    """In cents, from one to a million dollars: each order of magnitude is as frequent."""
    return np.rint(100.0 * 10.0 ** (6.0 * random.random(size))).astype(np.int64)


def _timestamps(at: Vector) -> pa.Array:
    return pa.array(at, pa.timestamp("us", "UTC"))
