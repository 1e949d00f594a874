"""A history on Spark as points of a chart and as a tree: what the buckets give, laid together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from windrow.history.answers.answer import Answer
from windrow.history.answers.merge import partial_of_table
from windrow.history.operator import spec_of
from windrow.history.questions.lookup import merged
from windrow.history.questions.series import SERIES_SCHEMA, group_keys, point_of
from windrow.history.tree_nodes import NODE_SCHEMA
from windrow.plan.history_schema import HistorySchema
from windrow.spark.shuffle.history_question import BucketReply, Drawing

__all__ = ["MOST_POINTS", "drawn_series", "drawn_tree"]

# Every point is an answer of every bucket, some kilobytes each.
MOST_POINTS = 2_000


class Drawable(Protocol):
    """A history in buckets that can be asked what is to be drawn."""

    @property
    def schema(self) -> HistorySchema:
        """What it keeps."""

    def drawn(
        self, drawing: Drawing, since_us: int = 0, until_us: int = 0
    ) -> Sequence[BucketReply]:
        """What all buckets give."""


def drawn_series(
    history: Drawable,
    measure: str | None,
    since_us: int | None,
    until_us: int | None,
    points: int,
    group: list[str],
) -> pa.Table:
    """Points of a chart, of one group or of all: as series_of() gives them in one process."""
    group_keys(history.schema, group)  # refused here: in a bucket it would end the history
    held_from_us, held_to_us = _extent(history)
    since_us = held_from_us if since_us is None else max(since_us, held_from_us)
    until_us = held_to_us if until_us is None else min(until_us, held_to_us)
    if since_us >= until_us:
        return SERIES_SCHEMA.empty_table()
    drawing = Drawing("series", max(1, min(points, MOST_POINTS)), group)
    spec = spec_of(history.schema)
    by_interval: dict[tuple[int, int], list[Answer]] = {}
    for reply in history.drawn(drawing, since_us, until_us):
        for table in reply.drawn:
            answer = partial_of_table(spec, table)
            interval = (answer.asked.since_us, answer.asked.until_us)
            by_interval.setdefault(interval, []).append(answer)
    rows = [point_of(merged(by_interval[each]), measure) for each in sorted(by_interval)]
    return pa.Table.from_pylist(rows, schema=SERIES_SCHEMA)


def drawn_tree(history: Drawable, group: list[str]) -> pa.Table:
    """The nodes of one group's tree, or of all laid over each other."""
    group_keys(history.schema, group)
    replies = history.drawn(Drawing("tree", group=group))
    nodes = pa.concat_tables([table for reply in replies for table in reply.drawn])
    found = nodes.group_by(["level", "start_us"]).aggregate([("rows", "sum"), ("is_split", "max")])
    found = found.rename_columns(["level", "start_us", "rows", "is_split"])
    ordered = found.sort_by([("level", "ascending"), ("start_us", "ascending")])
    return ordered.select(NODE_SCHEMA.names).cast(NODE_SCHEMA)


def _extent(history: Drawable) -> tuple[int, int]:
    """From the first node of any bucket to where the history is complete."""
    replies = history.drawn(Drawing("extent"))
    held = pa.concat_tables([table for reply in replies for table in reply.drawn])
    pairs = zip(held["since_us"].to_pylist(), held["until_us"].to_pylist(), strict=True)
    known = [(since_us, until_us) for since_us, until_us in pairs if since_us < until_us]
    if not known:
        return 0, 0
    return min(since_us for since_us, _ in known), max(until_us for _, until_us in known)
