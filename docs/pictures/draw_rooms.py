"""The folders of the source: imports go only downwards."""

from __future__ import annotations

from drawing import Picture

__all__ = ["rooms"]


def rooms() -> Picture:
    """Folders of src/windrow in layers, and what flows between them."""
    picture = Picture(860, 706, "The folders of the source; imports go only downwards")
    layers = [
        (
            ("apps/", "cli, shell, console, terminal, demo: what people use"),
            "quiet",
        ),
        (("embedded/", "session in this process"), ("spark/", "session on Spark"), "orange"),
        (("jobs/", "script → job"), "plain"),
        (("connectors/", "files, Kafka, PostgreSQL, Delta, ...: sources and sinks"), "plain"),
        (("events/", "rows one by one → the newest answer, beside the shard"), "blue"),
        (("runtime/", "shards: batches in, group updates out; the ledger of rows"), "blue"),
        (("governor/", "widths and turns under a budget; bounds of answers"), "green"),
        (("history/", "the past at coarser and coarser grain"), "green"),
        (("output/", "group updates of shards → answers, changes, the result"), "blue"),
        (("operators/", "window changes → aggregate changes; rows that expire"), "green"),
        (("rows/", "batches checked, expressions evaluated, rows shared"), "green"),
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
    picture.arrow((832, 18), (832, 638))
    picture.text(833, 658, "imports", 11, "middle", "quiet")
    return picture
