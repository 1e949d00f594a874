"""What trees in buckets give becomes the answers, changes and result of their query.

Of sessions a publisher of its own answers, when they close; where columns only order the result,
another one has it with these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from windrow.errors import CheckpointError
from windrow.output.ordered_result import in_order
from windrow.output.publish import Publisher
from windrow.plan.model import QueryPlan
from windrow.plan.relations.algebra import Field
from windrow.plan.relations.tree_plan import TreePlan
from windrow.rows.frames import read_frame, write_frame
from windrow.spark.driver.clock_steps import clock_steps
from windrow.spark.worker.shard_output import ShardOutput
from windrow.spark.worker.tree_output import CLOSED, WHOLE, beside, parts_of_union

__all__ = ["TreePublisher"]


class TreePublisher:
    """Takes what all buckets of a query give in a batch."""

    def __init__(self, plan: TreePlan) -> None:
        self._plan = plan
        self._publishers = {name: Publisher(each) for name, each in _published(plan).items()}

    def published(
        self, outputs: Sequence[ShardOutput], feeds: Sequence[str]
    ) -> dict[str, pa.Table]:
        """What a batch produces, for the feeds that are wanted."""
        wanted = [feed for feed in feeds if feed != "result"]
        taken: dict[str, pa.Table] = {}
        for name, publisher in self._publishers.items():
            own = [feed for feed in wanted if self._source(feed) is publisher]
            given = [beside(each, name) for each in outputs] if name else parts_of_union(outputs)
            taken |= _absorbed(publisher, given, own)
        return {feed: taken[feed] for feed in wanted}

    def stand_at(self, clock: int, first_instant: int) -> None:
        """It has answered up to a clock: what it takes until then is its result there."""
        for publisher in self._publishers.values():
            publisher.stand_at(clock, first_instant)

    @property
    def first_instant(self) -> int:
        """The first instant of all; END_OF_TIME while there was none."""
        return self._publishers[""].first_instant

    def drop_answers(self) -> None:
        """Let go of the answers that are due."""
        for publisher in self._publishers.values():
            publisher.drop_answers()

    def drop_changes(self) -> None:
        """Let go of the changes so far."""
        for publisher in self._publishers.values():
            publisher.drop_changes()

    def saved(self) -> dict[str, bytes]:
        """What each publisher saves, by its name."""
        return {name: publisher.snapshot() for name, publisher in self._publishers.items()}

    @classmethod
    def of(cls, plan: TreePlan, saved: Mapping[str, bytes]) -> TreePublisher:
        """The publisher of which each part saved this."""
        made = cls(plan)
        for name, each in _published(plan).items():
            if name not in saved:
                raise CheckpointError(
                    "WC433",
                    "the state lacks the order of its rows: a query in process does not save it",
                    hint="import it in process, or register a query without ORDER BY anew",
                )
            made._publishers[name] = Publisher.restore(each, saved[name])
        return made

    def _source(self, feed: str) -> Publisher:
        """Who is asked for a feed."""
        is_closed = feed == "answers" and CLOSED in self._publishers
        return self._publishers[CLOSED if is_closed else ""]

    def result(self) -> pa.Table:
        """The answer at the clock, in its order."""
        found = self._publishers[WHOLE if self._plan.hidden else ""].result()
        return in_order(found, self._plan) if self._plan.order else found

    def empty(self, feed: str) -> pa.Table:
        """A table without rows that has the columns of the feed."""
        publisher = Publisher(self._plan.published)
        table = publisher.changes() if feed == "changes" else publisher.answers()
        return table.slice(0, 0)

    def snapshot(self) -> bytes:
        """Everything that the next batch needs."""
        saved = self.saved()
        return write_frame("tree", {"publishers": list(saved)}, [*saved.values()])

    @classmethod
    def restore(cls, plan: TreePlan, data: bytes) -> TreePublisher:
        """The publisher that snapshot() saved."""
        header, sections = read_frame("tree", data, "publication of a tree")
        pairs = zip(header["publishers"], sections, strict=True)
        return cls.of(plan, {name: bytes(saved) for name, saved in pairs})


def _published(plan: TreePlan) -> dict[str, QueryPlan]:
    """What is published, by the name under which buckets tell it; the result has none."""
    found = {"": plan.published}
    if plan.closing is not None:
        found[CLOSED] = plan.published
    if plan.hidden:
        named = tuple(Field(each.id, each.id, each.type) for each in plan.relation.fields)
        found[WHOLE] = replace(plan, outputs=named, hidden=()).published
    return found


def _absorbed(
    publisher: Publisher, outputs: Sequence[ShardOutput], feeds: Sequence[str]
) -> dict[str, pa.Table]:
    taken: dict[str, list[pa.Table]] = {feed: [] for feed in feeds}
    for partials, instants, until_us in clock_steps(outputs):
        publisher.absorb(partials, instants, until_us)
        if "answers" in taken:
            taken["answers"].append(publisher.answers())
        else:
            publisher.drop_answers()
        if "changes" in taken:
            taken["changes"].append(publisher.changes())
        else:
            publisher.drop_changes()
    return {feed: pa.concat_tables(tables) for feed, tables in taken.items()}
