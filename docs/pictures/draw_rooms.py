"""The folders of the source: imports go only downwards."""

from __future__ import annotations

from drawing import Picture

__all__ = ["rooms"]


def rooms() -> Picture:
    """Folders of src/windrow in layers, and what flows between them."""
    picture = Picture(860, 576, "The folders of the source; imports go only downwards")
    layers = [
        (("cli/", "commands"), "quiet"),
        (("shell/", "statements as they are typed"), "quiet"),
        (("demo/", "the smart building"), ("bench/", "the papers' experiments"), "quiet"),
        (("terminal/", "people at a terminal"), ("console/", "people at a web page"), "quiet"),
        (("embedded/", "session in this process"), ("spark/", "session on Spark"), "orange"),
        (("jobs/", "script → job"), "plain"),
        (
            ("engine/", "plan → shard: batches in, touches out; publisher: touches → answers"),
            "blue",
        ),
        (
            ("joins/", "join-aggregates"),
            ("results/", "rows that expire"),
            ("history/", "the past"),
            ("governor/", "widths, turns"),
            "green",
        ),
        (
            ("windows/", "rows in columns, keys as codes"),
            ("exact/", "sums that forget nothing"),
            "green",
        ),
        (("plan/", "statements + streams → bound plan, algorithm, cost"), "purple"),
        (("sql/", "text → statements"), "purple"),
        (
            ("schema.py", "types"),
            ("event_time.py", "instants"),
            ("errors.py", "codes, hints"),
            "quiet",
        ),
    ]
    for row, (*boxes, tone) in enumerate(layers):
        y = 14 + 46 * row
        wide = (790 - 10 * (len(boxes) - 1)) / len(boxes)
        for number, (name, words) in enumerate(boxes):
            lines = (name, words) if words else (name,)
            picture.box(16 + (wide + 10) * number, y, wide, 40, *lines, tone=tone)
    picture.arrow((832, 18), (832, 546))
    picture.text(833, 566, "imports", 11, "middle", "quiet")
    return picture
