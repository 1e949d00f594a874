"""The writer of a Kafka topic in this process: each batch once, or at least once."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa
from confluent_kafka import KafkaException

from windrow.connectors.contract import Writer
from windrow.connectors.kafka.client_settings import client_settings
from windrow.connectors.kafka.process_records import Record, records_of
from windrow.connectors.kafka.producer import PlainProducer, TransactionalProducer, is_fenced
from windrow.connectors.kafka.reach import check_servers
from windrow.connectors.net_changes import NetChanges
from windrow.errors import DataError
from windrow.output.upserts import own_key, upsert_key
from windrow.plan.model import QueryPlan

if TYPE_CHECKING:
    from windrow.connectors.kafka.connector import KafkaSink
    from windrow.connectors.process_run import ProcessRun

__all__ = ["ProcessKafkaWriter"]

# What was cut off may have arrived or not; the number of the batch tells, so that a second attempt
# is safe.
ATTEMPTS = 2
_SHARED = ("bootstrap.", "client.", "sasl.", "security.", "ssl.", "socket.", "broker.")


class ProcessKafkaWriter(Writer):
    """A record for each row of a feed, or for each key whose row has changed."""

    def __init__(self, sink: KafkaSink, run: ProcessRun) -> None:
        self._sink, self._place = sink, run.place
        check_servers(sink.servers, sink.options, sink.place)
        # A run whose state is not kept begins anew each time: nobody goes on from it.
        state = run.identity() if run.is_lasting else uuid.uuid4().hex
        self._name = f"windrow-{run.query}-{state}"
        plan = run.keyed_plan(sink.feed, sink.place)
        self._net: NetChanges | None = None
        self._key: tuple[str, ...] | None = sink.key
        self.feeds: tuple[str, ...] = (sink.feed,)
        if isinstance(plan, QueryPlan):
            if sink.feed == "upserts":
                self._net = NetChanges(plan, sink.key)
                self._key, self.feeds = self._net.key, self._net.feeds
            else:
                self._key = own_key(plan) if sink.key is None else upsert_key(plan, sink.key)
        self._producer: PlainProducer | None = None
        self._with_producer(lambda _: None, "it was opened")

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Writes the batch, unless it is known to be written."""
        rows, removed = self._rows(tables)
        if not rows.num_rows and not (removed is not None and removed.num_rows):
            return

        def written(producer: PlainProducer) -> None:
            batch = f"{self._name}-{batch_id}"
            records: Iterable[Record] = records_of(rows, removed, self._key, batch)
            if not isinstance(producer, TransactionalProducer):
                producer.write(records)
            elif batch_id >= producer.next_batch:
                producer.write_batch(records, batch_id)

        self._with_producer(written, f"batch {batch_id} was written")

    def close(self) -> None:
        """Lets go of the connections to Kafka; the next batch makes new ones."""
        if self._producer is not None:
            producer, self._producer = self._producer, None
            producer.close()

    def _rows(self, tables: Mapping[str, pa.Table]) -> tuple[pa.Table, pa.Table | None]:
        return (tables[self.feeds[0]], None) if self._net is None else self._net.of(tables)

    def _with_producer(self, work: Callable[[PlainProducer], None], doing: str) -> None:
        attempt = 1
        while True:
            try:
                if self._producer is None:
                    self._producer = self._opened()
                work(self._producer)
                return
            except KafkaException as problem:
                self.close()
                error = problem.args[0]
                # Whoever tried again would fence the one that goes on.
                if attempt == ATTEMPTS or is_fenced(error) or not self._sink.transactional:
                    raise self._failed(problem, doing) from problem
                attempt += 1
            except BaseException:
                self.close()  # an open transaction is given up
                raise

    def _opened(self) -> PlainProducer:
        sink = self._sink
        settings = client_settings(sink.servers, sink.options, sink.place)
        if not sink.transactional:
            return PlainProducer(sink.topic, settings)
        shared = {name: value for name, value in settings.items() if name.startswith(_SHARED)}
        return TransactionalProducer(sink.topic, f"{self._name}-{sink.topic}", settings, shared)

    def _failed(self, problem: KafkaException, doing: str) -> DataError:
        error = problem.args[0]
        hint = "the batch is written when the job is started again"
        if is_fenced(error):
            hint = "another run of the same state writes to the topic since: stop one of the two"
        elif not self._sink.transactional:
            hint = "records of the batch may be there; they come again when the job is started"
        return DataError(
            "WD480",
            f"Kafka failed at {self._sink.servers} while {doing} (topic {self._sink.topic!r}): "
            f"{error.str()}",
            hint=hint,
            place=self._sink.place or self._place,
        )
