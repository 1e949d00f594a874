"""The way of a row, in one process and on Spark."""

from __future__ import annotations

from drawing import Picture

__all__ = ["in_process", "on_spark"]


def in_process() -> Picture:
    """From push() to the three ways to read a query."""
    picture = Picture(860, 330, "The way of a row in one process")
    picture.box(16, 110, 108, 60, "push(rows)", "Arrow columns")
    picture.arrow((124, 140), (152, 140))
    picture.box(152, 100, 134, 80, "ingest", "places by time", "keeps the ledger", tone="orange")
    picture.arrow((219, 180), (219, 236), tone="red")
    picture.box(142, 236, 154, 60, "set aside, counted", "late() · bad_time()", tone="red")
    picture.arrow((286, 140), (318, 140))

    picture.frame(318, 30, 366, 266, "shard: no clock of its own, no thread, no I/O", "blue")
    picture.box(332, 106, 96, 68, "waiting", "above the", "clock", tone="quiet")
    picture.arrow((428, 130), (450, 104))
    picture.arrow((428, 150), (450, 180))
    picture.box(450, 62, 104, 64, "window of A", "rows in columns", tone="blue")
    picture.box(450, 158, 104, 64, "window of B", "rows in columns", tone="blue")
    picture.arrow((554, 94), (586, 122))
    picture.arrow((554, 190), (586, 158))
    picture.box(586, 106, 86, 68, "operator", "counts, sums", "per key", tone="green")
    picture.text(336, 250, "Rows enter a window when the clock reaches them,", 12, tone="quiet")
    picture.text(336, 268, "and leave it a microsecond after their last instant.", 12, tone="quiet")

    picture.arrow((672, 140), (706, 140))
    picture.box(706, 106, 138, 68, "publisher", "exact sums rounded", "once, HAVING", tone="purple")
    picture.arrow((775, 174), (775, 208), tone="purple")
    picture.box(706, 208, 138, 88, "answers()", "changes()", "result()", tone="purple")

    picture.box(706, 30, 138, 44, "governor", "budget → widths", tone="orange")
    picture.arrow((706, 52), (684, 52), tone="orange")
    return picture


def on_spark() -> Picture:
    """Packing, buckets, shards and the driver, within one micro-batch."""
    picture = Picture(900, 500, "The way of a row on Spark, within one micro-batch")
    for x, wide, words in [
        (16, 130, "JVM: sources"),
        (172, 170, "Python: mapInArrow"),
        (384, 290, "Python: transformWithState"),
        (716, 168, "driver: foreachBatch"),
    ]:
        picture.text(x + wide / 2, 26, words, 13, "middle", "quiet", bold=True)

    for y, name in [(56, "stream A"), (176, "stream B")]:
        picture.box(16, y, 130, 70, name, "only the columns", "that are read")
        picture.arrow((146, y + 35), (178, y + 35))
        picture.box(
            178, y, 152, 70, "pack", "one packet for each", "bucket, empty ones too", tone="blue"
        )
    picture.box(
        16,
        296,
        314,
        56,
        "control stream",
        "heartbeats, ends, widths, queries: files",
        tone="orange",
    )

    buckets = [(44, "bucket 0"), (166, "bucket 1"), (288, "bucket 2")]
    for y, name in buckets:
        picture.frame(400, y, 258, 108, name, "green")
        picture.box(412, y + 34, 96, 62, "shard", "live, cached", tone="green")
        picture.box(540, y + 34, 106, 62, "RocksDB", "its segments", tone="quiet")
        picture.arrow((508, y + 57), (540, y + 57))
        picture.arrow((540, y + 77), (508, y + 77), tone="quiet", dashed=True)
        picture.arrow((658, y + 54), (716, 120 + (y - 44) * 0.27))
        for start, tone in [(91, "plain"), (211, "plain"), (324, "orange")]:
            picture.arrow((330, start), (400, y + 40 + (start - 91) * 0.12), tone=tone)
    picture.text(340, 384, "shuffle by bucket", 12, "middle", "quiet")

    picture.box(
        716,
        100,
        168,
        96,
        "combine",
        "partial states of all",
        "buckets, in any order:",
        "sums are exact",
        tone="purple",
    )
    picture.arrow((800, 196), (800, 226), tone="purple")
    picture.box(716, 226, 168, 62, "publisher", "answers, changes", tone="purple")
    picture.arrow((800, 288), (800, 318), tone="purple")
    picture.box(716, 318, 168, 62, "sink", "with the batch id", tone="purple")
    picture.box(716, 420, 168, 62, "governor", "after each batch", tone="orange")
    picture.arrow((800, 380), (800, 420), tone="orange", dashed=True)
    picture.arrow((716, 462), (172, 462), (172, 352), tone="orange", dashed=True)
    picture.text(444, 482, "orders for the next batch: replayed with it", 12, "middle", "orange")
    picture.text(529, 414, "dashed: only when the live shard is not at hand", 12, "middle", "quiet")
    return picture
