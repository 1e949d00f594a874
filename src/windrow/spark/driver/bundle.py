"""A bundle on the driver: one Spark streaming query that runs several queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

from windrow.carryover.carryover import Carryover
from windrow.errors import BindingError, CheckpointError, UnsupportedError
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import QueryPlan, one_block
from windrow.plan.serialise import plan_to_json
from windrow.plan.shipped_plan import functions_in
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.checkpoint.spark_part import check_spark_part, last_commit, last_offsets
from windrow.spark.driver.bundle_record import BundleRecord
from windrow.spark.driver.pipeline import bundle_outputs
from windrow.spark.driver.query_outlet import QueryOutlet
from windrow.spark.driver.streaming_run import Batch, StreamingRun
from windrow.spark.driver.taken_member import member_checkpoint, member_taken
from windrow.spark.driver.triggers import AVAILABLE, trigger_options
from windrow.spark.processes.usable import refuse_stopped
from windrow.spark.shuffle.carrier import carrier_of
from windrow.spark.shuffle.control import order_member
from windrow.spark.shuffle.member_orders import MemberOrder
from windrow.spark.worker.shard_output import ShardOutput

__all__ = ["Bundle"]


class Bundle(StreamingRun):
    """Queries that are partitioned alike; they come and go while it runs."""

    def __init__(
        self,
        spark: SparkSession,
        checkpoint: QueryCheckpoint,
        record: BundleRecord,
        sources: Mapping[str, DataFrame],
        buckets: int | None,
        after_batch: Callable[[], None],
    ) -> None:
        super().__init__(spark, checkpoint, f"query {checkpoint.query!r}", buckets)
        self.record = record
        self._checkpoint = checkpoint
        self._all_sources = sources
        self._after_batch = after_batch
        self._queries: dict[int, QueryOutlet] = {}

    def _sources(self) -> Mapping[str, DataFrame]:
        known = self._all_sources
        return {stream: known[stream] for stream in self._streams() if stream in known}

    def _streams(self) -> list[str]:
        return [stream.name for stream in self.record.partitioning.streams]

    @property
    def name(self) -> str:
        """The directory of its checkpoint."""
        return self._checkpoint.query

    @property
    def what(self) -> str:
        """What errors call it."""
        return f"the operator of the queries {', '.join(map(repr, self._names()))}"

    def runs(self, query: QueryOutlet) -> bool:
        """Whether a query is at work in it."""
        return self.is_running and query in self._queries.values()

    def start(
        self,
        given: Sequence[tuple[QueryOutlet, object]],
        trigger: str | None,
        ends: Sequence[str] = (),
    ) -> None:
        """Starts queries, or resumes them from the checkpoint; running ones are not disturbed.

        given: queries with their sinks. ends: names of queries that the checkpoint runs, and that
        end instead of going on.
        """
        refuse_stopped(self._spark)
        trigger_options(trigger)  # a span that is none is refused before anything is done
        self._check([*(query.name for query, _ in given), *ends], trigger)
        columns = self.record.columns
        buckets = self.bucket_count()
        known = self.record.running()
        # Those that ran before come first: one that is another query now is refused, and nothing
        # has been done.
        for query, sink in sorted(given, key=lambda pair: pair[0].name not in known):
            self._admit(query, sink, buckets)
        for name in ends:
            number = known[name]
            if number in self._queries:
                self.end(self._queries[number])
            else:
                self._order_end(number)
        if not self.record.running():
            return
        if self.is_running and self.record.columns == columns:
            self._trigger = trigger
            return
        # Spark's plan is fixed when it starts: for more columns it is started again.
        self._halt()
        self.launch(trigger)

    def _check(self, names: list[str], trigger: str | None) -> None:
        if self.is_running and trigger != self._trigger:
            raise BindingError(
                "WB450",
                f"the operator that runs {', '.join(self._names())} has the trigger "
                f"{self._trigger!r}, not {trigger!r}",
                hint="start the query with the same trigger, or on its own: query.start(sink, ...)",
            )
        missing = sorted(set(self.record.running()) - {*self._names(), *names})
        if missing:
            raise BindingError(
                "WB451",
                f"the checkpoint of {self.name} also runs {', '.join(missing)}",
                hint=(
                    "start them together with the others, each with its sink; or with None as "
                    "the sink, to end one"
                ),
            )

    def _names(self) -> list[str]:
        return [query.name for query in self._queries.values()]

    @property
    def members(self) -> list[str]:
        """The names of the queries at work in it."""
        return self._names()

    @property
    def clock_us(self) -> int | None:
        """The clock that all its queries share; one that has just begun may not know it yet."""
        clocks = [query.status.clock_us for query in self._queries.values()]
        return max((clock for clock in clocks if clock is not None), default=None)

    def _admit(self, query: QueryOutlet, sink: object, buckets: int) -> None:
        """Gives a query its number, and the order to begin where it has not been given."""
        plan = one_block(query.plan)
        _refuse_functions(query.name, plan)
        known = self.record.running().get(query.name)
        number = self.record.next_number if known is None else known
        place = member_checkpoint(self._checkpoint, number, query.name)
        query.open(sink, place)
        if known is None:  # not before: a query whose sink cannot be used has not begun
            query.begin(-1)
            self.record.add(query.name, plan)
        place.claim(fingerprint(query.plan), buckets, query.grid_us, query.plan)
        # Before its order is there: with the batch that reads it the first answers come.
        self._queries = {**self._queries, number: query}
        order = MemberOrder(number, plan_to_json(query.plan), query.grid_us)
        order_member(self._checkpoint.control, order)

    def _claim(self, buckets: int) -> None:
        shared, claimed = self.record.partitioning, self._checkpoint.claimed_buckets()
        if claimed not in (None, buckets):
            names = ", ".join(self.record.running())
            raise CheckpointError(
                "WC434",
                f"the operator of the queries {names} ran in {claimed} buckets by its checkpoint "
                f"and cannot go on in {buckets}: several queries share its state",
                hint=f"start them with connect(spark, buckets={claimed}); or take each along, by "
                "`windrow state export` and `windrow state import --buckets`, to a new checkpoint",
            )
        self._checkpoint.claim(shared.fingerprint, buckets, 1, carrier_of(shared, {}))

    def _open(self) -> None:
        spark = self._checkpoint.spark_part
        saved = [query.last_saved for query in self._queries.values()]
        check_spark_part(spark, max(saved, default=-1))
        for query in self._queries.values():
            query.begin(last_offsets(spark))

    def _outputs(self, buckets: tuple[int, ...]) -> DataFrame:
        place = (self._all_sources, self._checkpoint, buckets)
        print_ = self.record.partitioning.fingerprint
        return bundle_outputs(self._spark, self.record.carrier, print_, *place)

    def _take(self, batch: Batch) -> None:
        outputs = [ShardOutput.from_bytes(given) for given in batch.outputs]
        outputs.sort(key=lambda output: output.bucket)
        for query in self._published(outputs, batch.number):
            query.save(batch.elapsed_ms)
        self._after_batch()

    def _published(self, outputs: list[ShardOutput], batch_id: int) -> list[QueryOutlet]:
        """The queries of the batch, after each has given it to its sink."""
        parts = [output.by_member() for output in outputs]
        self._lease.check()
        taken = []
        for number, query in self._queries.items():
            if parts and number in parts[0]:
                own = [part[number] for part in parts]
                if number in outputs[0].begun:
                    query.begin_at(batch_id, own[0].began_us)
                query.write(query.absorb(own, batch_id), own, batch_id)
                taken.append(query)
            elif not parts and query.last_saved >= 0:
                query.pass_over(batch_id)
                taken.append(query)
        return taken

    def end(self, query: QueryOutlet) -> None:
        """Orders the end of a query and waits for it; the others continue."""
        number = next((n for n, each in self._queries.items() if each is query), None)
        if number is None:
            return
        self._order_end(number)
        if self.is_running and self._trigger != AVAILABLE:
            self.catch_up()
        self._queries = {n: each for n, each in self._queries.items() if n != number}
        query.end()
        if not self._queries:
            self.stop()

    @contextmanager
    def between_batches(self) -> Iterator[None]:
        """Inside, it takes no batch, and no other driver continues its checkpoint."""
        is_running = self.is_running
        if is_running:
            self._halt()
        else:
            self._lease.take()
        try:
            yield
        finally:
            if is_running and self._queries:
                self.launch(self._trigger)
            elif is_running:
                self.stop()
            else:
                self._lease.release()

    def taken(self, name: str, time_zone: str) -> Carryover:
        """All that one of its queries needs to go on by itself."""
        return member_taken(self._spark, self._checkpoint, self.record, name, time_zone)

    def checkpoint_of(self, name: str) -> QueryCheckpoint:
        """That of one of its queries."""
        return member_checkpoint(self._checkpoint, self.record.running()[name], name)

    @property
    def has_pending(self) -> bool:
        """Whether a batch was begun and is not over."""
        return last_offsets(self._checkpoint.spark_part) > self.last_commit

    @property
    def last_commit(self) -> int:
        """Its newest batch that is over."""
        return last_commit(self._checkpoint.spark_part)

    def let_go(self, name: str) -> None:
        """A query goes on by itself; who calls is between batches."""
        number = self.record.running()[name]
        outlet = self._queries.get(number)
        self._queries = {n: each for n, each in self._queries.items() if n != number}
        self._order_end(number)
        if outlet is not None:
            outlet.end()

    def _order_end(self, number: int) -> None:
        self.record.end(number)
        order_member(self._checkpoint.control, MemberOrder(number))

    def advance(self, stream: str, instant_us: int) -> None:
        """Orders a heartbeat for its queries: the stream is complete through that instant."""
        if self._queries and stream in self._streams():
            super().advance(stream, instant_us)

    def finish(self) -> None:
        """As any run's, if a query runs in it."""
        if self._queries:
            super().finish()

    def _ended(self) -> None:
        for query in self._queries.values():
            query.end()


def _refuse_functions(name: str, plan: QueryPlan) -> None:
    """Orders to shared operators are texts, which functions of users are no part of."""
    called = functions_in(plan)
    if called:
        raise UnsupportedError(
            "WU794",
            f"query {name!r} calls the function {called[0].name!r}, and shared operators know none",
            hint="start it by itself: session.query(...).start(sink)",
        )
