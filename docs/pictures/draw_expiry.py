"""Results that expire: the branch ladder queue, the timing wheel, and the lives of rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from drawing import Picture

import windrow
from windrow.operators.expiry.ladder.ladder_queue import BRANCH_LOOK_BACK, THRESHOLD
from windrow.operators.expiry.wheel.slot_kernels import CHUNK_ROWS, DIGITS, RING

__all__ = ["branch_ladder", "lives", "timing_wheel"]


def branch_ladder() -> Picture:
    """Top, rungs and Bottom, with trunks of nodes and branches of equal expiry."""
    picture = Picture(880, 500, "The branch ladder queue: Top, rungs and Bottom")
    picture.frame(16, 16, 620, 112, "Top: in no order, all that expires at 60 s or later", "purple")
    _trunk(picture, 40, 48, [(72, 2), (64, 4), (90, 1), (61, 1)], "purple")
    picture.frame(16, 150, 620, 106, "rung 1: buckets of 10 s, each a trunk in no order", "blue")
    for number, rows in enumerate(([], [(34, 1), (31, 3)], [(47, 1)], [(58, 2)])):
        begin = 20 + 10 * number
        x = 40 + 146 * number
        gone = number == 0
        picture.box(x, 180, 136, 66, tone="quiet" if gone else "plain", round_by=3, dashed=gone)
        picture.text(x + 6, 194, f"{begin} to {begin + 10} s", 11, tone="quiet")
        _trunk(picture, x + 8, 200, rows, "blue", small=True)
        if gone:
            picture.text(x + 68, 222, "spread below", 12, "middle", "quiet")
    picture.frame(
        16, 278, 620, 106, "rung 2: the bucket that had too many nodes, in finer ones", "blue"
    )
    for number, rows in enumerate(([], [(24, 2)], [(27, 1), (26, 1)], [(29, 5)])):
        begin = 20 + 2.5 * number
        x = 40 + 146 * number
        gone = number == 0
        picture.box(x, 308, 136, 66, tone="quiet" if gone else "plain", round_by=3, dashed=gone)
        picture.text(x + 6, 322, f"{begin:g} to {begin + 2.5:g} s", 11, tone="quiet")
        _trunk(picture, x + 8, 328, rows, "blue", small=True)
        if gone:
            picture.text(x + 68, 350, "sorted below", 12, "middle", "quiet")
    picture.frame(16, 406, 620, 80, "Bottom: sorted", "green")
    _trunk(picture, 150, 414, [(20, 3), (21, 1), (22, 2)], "green")
    picture.arrow((144, 440), (84, 440), tone="green")
    picture.text(30, 466, "leave, whole nodes", 12, tone="green")

    notes = [
        (52, "a node: one expiry", "its branch: all rows of it", "plain"),
        (100, f"looked for among the last {BRANCH_LOOK_BACK}", "nodes of a trunk", "quiet"),
        (190, "Top becomes a rung when", "all below it is empty", "plain"),
        (296, f"a bucket of over {THRESHOLD} nodes", "becomes a rung of its own", "plain"),
        (352, "a smaller one is sorted", "into Bottom", "plain"),
        (446, "a row that comes goes where", "its expiry belongs", "plain"),
    ]
    for y, first, second, tone in notes:
        picture.text(652, y, first, 12, tone=tone)
        picture.text(652, y + 16, second, 12, tone=tone)
    return picture


def _trunk(
    picture: Picture,
    x: float,
    y: float,
    rows: list[tuple[int, int]],
    tone: str,
    *,
    small: bool = False,
) -> None:
    wide, gap = (44, 62) if small else (52, 110)
    for number, (expiry, count) in enumerate(rows):
        left = x + gap * number
        picture.box(left, y, wide, 24, f"{expiry} s", tone=tone, size=12, round_by=3)
        if number:
            picture.line((left - gap + wide, y + 12), (left, y + 12), tone=tone)
        for row in range(count):
            picture.dot(left + 6 + 10 * row, y + 36, 4, tone, hollow=row > 0)


def timing_wheel() -> Picture:
    """A ring of near slots and far slots by digits; rows lie in chunks."""
    picture = Picture(880, 380, "The timing wheel of chunked arrays")
    picture.frame(
        16, 16, 848, 168, f"ring: {RING:,} slots of one width, for what expires soon", "green"
    )
    fills = [2, 3, 1, 4, 0, 2, 1, 3, 0, 1]
    for number, fill in enumerate(fills):
        x = 40 + 60 * number
        picture.box(x, 52, 54, 20, tone="quiet" if number else "green", round_by=2)
        for chunk in range(min(fill, 3)):
            picture.bar(x + 5, 80 + 24 * chunk, 44, 18, "green")
        if fill > 3:
            picture.text(x + 27, 166, "…", 13, "middle", "green")
    picture.text(640, 100, "…", 20, tone="green")
    picture.text(676, 66, "the slot that is due is", 12)
    picture.text(676, 82, "counted into order, and", 12)
    picture.text(676, 98, "leaves as one array", 12)
    picture.text(676, 128, f"a chunk: {CHUNK_ROWS - 1} rows side", 12, tone="green")
    picture.text(676, 144, "by side, and a link", 12, tone="green")
    picture.arrow((64, 46), (40, 46), tone="green")

    picture.frame(
        16,
        214,
        848,
        104,
        f"far: levels of {DIGITS} slots, by the highest digit that differs",
        "orange",
    )
    for level in range(3):
        x = 40 + 210 * level
        picture.text(x, 254, f"level {level}", 12, tone="orange", bold=True)
        for slot in range(8):
            picture.bar(x + 24 * slot, 264, 20, 16, "orange" if (slot * 3 + level) % 4 else "quiet")
    picture.text(676, 254, "when the ring has turned", 12)
    picture.text(676, 270, "by half, one slot is spread", 12)
    picture.text(676, 286, "over the ring", 12)
    picture.arrow((656, 264), (656, 184), tone="orange")
    picture.text(
        24,
        344,
        "A row is written once where it waits, far ones once more for each digit. Slots become",
        12,
        tone="quiet",
    )
    picture.text(
        24,
        362,
        "wider or narrower with the rows that leave at a step; none is linked to another.",
        12,
        tone="quiet",
    )
    return picture


def lives() -> Picture:
    """Rows of three queries over the same three rows: joined, distinct, and negated."""
    picture = Picture(860, 340, "Lives of result rows: joined, distinct and negated")
    left, second = 210, 6.2
    picture.line((left, 36), (left, 292), tone="quiet")
    for at in range(0, 101, 20):
        picture.line((left + second * at, 288), (left + second * at, 296))
        picture.text(left + second * at, 312, f"{at} s", 11, "middle", "quiet")
    picture.arrow((left, 292), (left + second * 102, 292))
    for y, name, rows in [(52, "link1, 60 s windows", (0, 20)), (76, "link2, 10 s windows", (30,))]:
        picture.text(left - 14, y + 4, name, 12, "end", "quiet")
        for at in rows:
            picture.dot(left + second * at, y, 5, "plain")
            picture.text(left + second * at + 10, y + 4, "ann", 11, tone="quiet")
    for y, name, tone, spans in _stories():
        picture.text(left - 14, y + 4, name, 12, "end", tone, bold=True)
        for number, (begin, end) in enumerate(spans):
            picture.bar(
                left + second * begin, y - 8 + 17 * (number % 2), second * (end - begin), 13, tone
            )
    picture.text(
        left,
        332,
        "a bar is a row of the result: +1 where it begins, \N{MINUS SIGN}1 where it ends",
        12,
        tone="quiet",
    )
    return picture


def _stories() -> list[tuple[float, str, str, list[tuple[int, int]]]]:
    session = windrow.connect()
    for link in ("link1", "link2"):
        session.stream(link, "ts timestamp, src string", time="ts")
    texts = [
        "SELECT a.src AS src FROM link1 [60 SECONDS] AS a, link2 [10 SECONDS] AS b "
        "WHERE a.src = b.src",
        "SELECT DISTINCT src FROM link1 [60 SECONDS]",
        "SELECT a.src AS src FROM link1 [60 SECONDS] AS a "
        "LEFT ANTI JOIN link2 [10 SECONDS] AS b ON a.src = b.src",
    ]
    queries = [session.query(text) for text in texts]
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for link, seconds in [("link1", (0, 20)), ("link2", (30,))]:
        rows = [{"ts": start + timedelta(seconds=each), "src": "ann"} for each in seconds]
        session.push(link, rows)
    for link in ("link1", "link2"):
        session.advance(link, to=start + timedelta(seconds=100))
    names = [("join", "blue"), ("DISTINCT", "green"), ("LEFT ANTI JOIN", "orange")]
    return [
        (110 + 62 * number, name, tone, _spans(query.changes().to_pylist(), start))
        for number, (query, (name, tone)) in enumerate(zip(queries, names, strict=True))
    ]


def _spans(changes: list[dict[str, object]], start: datetime) -> list[tuple[int, int]]:
    """From when to when rows were there; equal rows end in the order in which they began."""
    begun: list[int] = []
    spans = []
    for change in changes:
        at = change["at"]
        assert isinstance(at, datetime)
        second = (at - start) // timedelta(seconds=1)
        if change["change"] == 1:
            begun.append(second)
        else:
            spans.append((begun.pop(0), second))
    return sorted(spans)
