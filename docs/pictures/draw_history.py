"""The history of a stream: its adaptive tree, and how it grows coarser with age."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
from drawing import Picture

from windrow.history.adaptive_tree import AdaptiveTree
from windrow.history.aggregates import Bounded
from windrow.history.history import History
from windrow.history.spec import HistorySpec, levels_of
from windrow.schema import BIGINT, Column

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from papers.history.tree_shape import Node, shape_of

__all__ = ["ageing", "tree"]

SECOND_US = 1_000_000
HOUR_S = 3600
# The paper's example: seconds at which a row came.
SECONDS = (2, 4, 5, 5, 6, 6, 8, 8, 13, 15, 18, 25, 27, 27, 28, 30, 32)
KIND_TONE = {"inner": "plain", "leaf": "green", "base": "blue", "virtual": "quiet"}


def tree() -> Picture:
    """The tree over the paper's example: 1, 4 and 16 seconds, split above four rows."""
    picture = Picture(900, 400, "The adaptive tree over the paper's example")
    nodes = _nodes()
    left, second = 84, 16.6
    tops = {2: 62, 1: 132, 0: 202}
    for level, words in [(2, "16 s"), (1, "4 s"), (0, "1 s")]:
        picture.text(68, tops[level] + 23, words, 13, "end", "quiet", bold=True)
    for node in nodes:
        span = 4**node.level
        x = left + second * node.start_us / SECOND_US
        wide = second * span - 3
        words = () if node.kind == "virtual" else (str(node.rows),)
        tone = KIND_TONE[node.kind]
        dashed = node.kind == "virtual"
        if node.level < 2:
            above = tops[node.level + 1] + 38
            parent = node.start_us // SECOND_US // (4 * span) * 4 * span
            middle = left + second * (parent + 2 * span) - 2
            picture.line((middle, above), (x + wide / 2, tops[node.level]), tone="quiet", wide=1)
        picture.box(
            x, tops[node.level], wide, 38, *words, tone=tone, size=12, dashed=dashed, round_by=3
        )
    base = 290
    picture.arrow((left, base), (left + second * 48 + 12, base))
    for number, at in enumerate(SECONDS):
        before = SECONDS[:number].count(at)
        picture.dot(left + second * (at + 0.5) - 1.5, base - 9 - 9 * before, 3.6, "orange")
    for at in range(0, 49, 4):
        picture.line((left + second * at, base - 3), (left + second * at, base + 4))
        picture.text(left + second * at, base + 19, f"{at} s", 11, "middle", "quiet")
    picture.text(left, 28, "17 rows; a node with more than 4 of them is split", 13, bold=True)
    for x, tone, words in [
        (84, "plain", "inner: not stored"),
        (274, "green", "leaf: keeps its rows"),
        (484, "blue", "finest: aggregates alone"),
        (714, "quiet", "no rows: nothing"),
    ]:
        picture.box(x, 340, 24, 24, tone=tone, round_by=3, dashed=tone == "quiet")
        picture.text(x + 32, 357, words, 12)
    picture.text(left, 392, "the number in a node is the number of its rows", 11, tone="quiet")
    return picture


def _nodes() -> list[Node]:
    levels = levels_of([(4**level * SECOND_US, None) for level in range(3)])
    spec = HistorySpec(levels, (Column("v", BIGINT),), split_above=4)
    history = History(spec)
    history.insert(np.array(SECONDS) * SECOND_US, {"v": pa.array(np.arange(len(SECONDS)))})
    assert isinstance(history.storage, AdaptiveTree)
    return shape_of(history.storage, spec)


def ageing() -> Picture:
    """Three levels and their horizons; one interval that ends at borders, one that cuts a node."""
    history = _six_hours()
    whole, cut = _count(history, HOUR_S, 3 * HOUR_S), _count(history, 4800, 3 * HOUR_S)
    seconds_from, minutes_from = (
        each / SECOND_US / HOUR_S for each in history.storage.regions.horizons_us[:2]
    )
    picture = Picture(860, 372, "A history grows coarser with age")
    left, hour = 44, 130.0
    _clock_face(picture, left, hour)
    for at in range(int(minutes_from)):
        picture.box(left + hour * at + 2, 86, hour - 4, 44, "1 hour", tone="purple", head=False)
    _stripes(picture, left, hour, (minutes_from, seconds_from), 22, "blue")
    _stripes(picture, left, hour, (seconds_from, 6), 7, "green")
    picture.text(
        left + hour * minutes_from / 2, 70, "older: nodes of an hour", 12, "middle", "purple"
    )
    middle = (minutes_from + seconds_from) / 2
    picture.text(left + hour * middle, 70, "nodes of a minute", 12, "middle", "blue")
    picture.text(left + hour * 6, 46, "the youngest ten minutes:", 12, "end", "green")
    picture.text(left + hour * 6, 70, "leaves", 12, "end", "green")
    for at in (minutes_from, seconds_from):
        picture.line((left + hour * at, 60), (left + hour * at, 160), tone="quiet", dashed=True)
    picture.text(left + hour * middle, 152, "horizons move by whole nodes", 11, "middle", "quiet")

    picture.bar(left + hour + 2, 120, hour / 3 - 2, 10, "red")
    _interval(picture, left, hour, (1, 3), 156, "green", f"n = {whole.value}: exact")
    words = f"n is {cut.value}, surely from {cut.low} to {cut.high}"
    _interval(picture, left, hour, (4 / 3, 3), 208, "orange", words)
    picture.text(
        left,
        308,
        "01:20 cuts a node of which only sums are left: its rows may all be inside, or none.",
        12,
    )
    picture.text(
        left,
        328,
        "The bounds are hard; the nearest exact intervals, from 02:00 and 01:00, are named.",
        12,
    )
    picture.text(
        left,
        354,
        "A row a second; levels of 1 second for 10 minutes, 1 minute for 2 hours, 1 hour for ever.",
        11,
        tone="quiet",
    )
    return picture


def _clock_face(picture: Picture, left: float, hour: float) -> None:
    picture.arrow((left, 254), (left + hour * 6 + 26, 254))
    for at in range(7):
        picture.line((left + hour * at, 250), (left + hour * at, 258))
        picture.text(left + hour * at, 274, f"0{at}:00", 11, "middle", "quiet")


def _stripes(
    picture: Picture, left: float, hour: float, span: tuple[float, float], count: int, tone: str
) -> None:
    step = hour * (span[1] - span[0]) / count
    for number in range(count):
        picture.bar(left + hour * span[0] + step * number, 86, step * 0.7, 44, tone)


def _interval(
    picture: Picture,
    left: float,
    hour: float,
    span: tuple[float, float],
    y: float,
    tone: str,
    words: str,
) -> None:
    begin, end = (left + hour * each for each in span)
    picture.line((begin, y - 6), (begin, y + 6), tone=tone, wide=2)
    picture.line((end, y - 6), (end, y + 6), tone=tone, wide=2)
    picture.line((begin, y), (end, y), tone=tone, wide=2)
    picture.text((begin + end) / 2, y + 17, words, 12, "middle", tone, bold=True)


def _six_hours() -> History:
    """Six hours with a row a second: seconds are kept for ten minutes, minutes for two hours."""
    kept = [(1, 600), (60, 7200), (3600, None)]
    levels = levels_of([(each * SECOND_US, end and end * SECOND_US) for each, end in kept])
    history = History(HistorySpec(levels, (Column("v", BIGINT),)))
    seconds = np.arange(6 * HOUR_S)
    history.insert(seconds * SECOND_US, {"v": pa.array(seconds)})
    history.advance(6 * HOUR_S * SECOND_US)
    return history


def _count(history: History, since_s: int, until_s: int) -> Bounded:
    return history.snapshot(since_s * SECOND_US, until_s * SECOND_US).bounds("count", "v")
