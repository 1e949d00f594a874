"""The texts of NEXMark's streams: lists to draw from, each made once."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = [
    "CHANNELS",
    "CITIES",
    "CREDIT_CARDS",
    "DESCRIPTIONS",
    "EMAILS",
    "EXTRAS",
    "ITEMS",
    "NAMES",
    "STATES",
    "URLS",
    "chosen",
    "drawn",
    "drawn_channels",
]

HOT_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
HOT_CHANNEL_SHARE = 1 / 2
OTHER_CHANNELS = 10_000
UNNAMED_EVERY = 10  # of so many other channels, one is not named by its URL
# The texts are part of the benchmark's definition, so their seed never changes.
_RANDOM = np.random.default_rng(2004)
_LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def chosen(texts: pa.Array, places: NDArray[np.int64]) -> pa.Array:
    """The texts at these places of the list."""
    return texts.take(pa.array(places))


def drawn(texts: pa.Array, size: int, random: np.random.Generator) -> pa.Array:
    """So many texts of the list, all equally likely."""
    return chosen(texts, random.integers(0, len(texts), size))


def drawn_channels(size: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Places in CHANNELS and URLS: half of them name one of the four hot channels."""
    hot = random.integers(0, len(HOT_CHANNELS), size)
    other = len(HOT_CHANNELS) + random.integers(0, OTHER_CHANNELS, size)
    return np.where(random.random(size) < HOT_CHANNEL_SHARE, hot, other)


def _letters(shortest: int, longest: int) -> str:
    return "".join(_RANDOM.choice(_LETTERS, _RANDOM.integers(shortest, longest + 1)))


def _texts(many: int, shortest: int, longest: int) -> pa.Array:
    return pa.array([_letters(shortest, longest) for _ in range(many)])


def _url(channel: int | None) -> str:
    folders = "/".join(_letters(3, 5) for _ in range(3))
    page = f"https://www.nexmark.com/{folders}/item.htm?query=1"
    return page if channel is None else f"{page}&channel_id={channel}"


def _other_urls() -> list[str]:
    return [_url(i if i % UNNAMED_EVERY else None) for i in range(OTHER_CHANNELS)]


_FIRST = ("Ana", "Bela", "Chen", "Dana", "Emre", "Femi", "Gita", "Hugo", "Ines", "Jari", "Kofi")
_LAST = ("Abara", "Blum", "Costa", "Dvorak", "Evans", "Fischer", "Gupta", "Haas", "Ito")
_PAIRS = list(itertools.product(_FIRST, _LAST))

NAMES = pa.array([f"{first} {last}" for first, last in _PAIRS])
EMAILS = pa.array([f"{first}.{last}@example.com".lower() for first, last in _PAIRS])
STATES = pa.array(["AZ", "CA", "ID", "OR", "WA", "WY"])
CITIES = pa.array(
    ["Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle",
     "Kent", "Cheyenne"]
)  # fmt: skip
CREDIT_CARDS = pa.array(
    [" ".join(f"{part:04d}" for part in _RANDOM.integers(0, 10_000, 4)) for _ in range(5_000)]
)
ITEMS = _texts(2_000, 5, 20)
DESCRIPTIONS = _texts(2_000, 20, 100)
EXTRAS = _texts(5_000, 20, 60)
# The URLs of most other channels say which one it is: q21 leaves out bids where none is known.
CHANNELS = pa.array([*HOT_CHANNELS, *(f"channel-{i}" for i in range(OTHER_CHANNELS))])
URLS = pa.array([*(_url(None) for _ in HOT_CHANNELS), *_other_urls()])
