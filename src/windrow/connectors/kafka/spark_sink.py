"""The writer of a Kafka topic: each batch once by transactions, or at least once without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from windrow.connectors.contract import SinkCheckpoint, Writer
from windrow.connectors.kafka.client_settings import OPTION_PREFIX
from windrow.connectors.kafka.connector import KafkaSink
from windrow.connectors.kafka.reach import check_servers
from windrow.connectors.kafka.record_headers import BATCH_HEADER, ROW_HEADER
from windrow.connectors.kafka.spark_jars import require_kafka, require_producer
from windrow.connectors.kafka.spark_producer import TransactionalProducer
from windrow.connectors.kafka.spark_records import Records, records_frame
from windrow.connectors.net_changes import NetChanges
from windrow.errors import DataError
from windrow.output.upserts import own_key, upsert_key
from windrow.plan.model import QueryPlan

__all__ = ["KafkaWriter"]


class KafkaWriter(Writer):
    """A record for each row of a feed, or for each key whose row has changed."""

    def __init__(self, sink: KafkaSink, plan: QueryPlan, checkpoint: SinkCheckpoint) -> None:
        self._spark = SparkSession.active()
        require_kafka(self._spark)
        if sink.transactional:
            require_producer(self._spark)
        self._sink = sink
        self._name = f"windrow-{checkpoint.query}-{checkpoint.identity()}"
        self._net = NetChanges(plan, sink.key) if sink.feed == "upserts" else None
        self._key = _key(sink, plan) if self._net is None else self._net.key
        self.feeds: tuple[str, ...] = (sink.feed,) if self._net is None else self._net.feeds
        self._producer: TransactionalProducer | None = None

    def begin(self, last_batch: int, owner: str) -> None:
        """Refuses to start a query whose answers would reach nobody."""
        check_servers(self._sink.servers, self._sink.options, self._sink.place)

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Writes the batch, unless it is known to be written."""
        records = self._records(tables)
        if not records.count:
            return
        with _named_failures(self._sink, batch_id):
            if not self._sink.transactional:
                self._append(self._frame(records, batch_id))
                return
            producer = self._opened()
            if batch_id >= producer.next_batch:
                self._producer = None  # one that fails has closed itself
                producer.write(self._frame(records, batch_id), batch_id)
                self._producer = producer

    def close(self) -> None:
        """Lets go of the connections to Kafka; the next batch makes new ones."""
        if self._producer is not None:
            producer, self._producer = self._producer, None
            producer.close()

    def _records(self, tables: Mapping[str, pa.Table]) -> Records:
        if self._net is None:
            return Records(tables[self.feeds[0]], None, self._key)
        return Records(*self._net.of(tables), self._key)

    def _frame(self, records: Records, batch_id: int) -> DataFrame:
        return records_frame(self._spark, records, f"{self._name}-{batch_id}")

    def _opened(self) -> TransactionalProducer:
        if self._producer is None:
            name = f"{self._name}-{self._sink.topic}"
            settings = {"bootstrap.servers": self._sink.servers}
            for option, value in self._sink.options.items():
                settings[option.removeprefix(OPTION_PREFIX)] = value
            self._producer = TransactionalProducer(self._spark, self._sink.topic, name, settings)
        return self._producer

    def _append(self, records: DataFrame) -> None:
        """Spark's own writer: what fails half-way is written again."""
        named = ((BATCH_HEADER, "batch"), (ROW_HEADER, "row"))
        headers = [
            sql.struct(sql.lit(header).alias("key"), sql.col(column).alias("value"))
            for header, column in named
        ]
        writer = records.select("key", "value", sql.array(*headers).alias("headers")).write
        options = {
            **self._sink.options,
            "kafka.bootstrap.servers": self._sink.servers,
            "topic": self._sink.topic,
            "includeHeaders": "true",
        }
        writer.format("kafka").options(**options).save()


def _key(sink: KafkaSink, plan: QueryPlan) -> tuple[str, ...] | None:
    """The columns of a record's key: those given, otherwise what identifies a row of the result."""
    return own_key(plan) if sink.key is None else upsert_key(plan, sink.key)


@contextmanager
def _named_failures(sink: KafkaSink, batch_id: int) -> Iterator[None]:
    try:
        yield
    except (Py4JJavaError, PySparkException) as problem:
        reason = problem
        if isinstance(problem, Py4JJavaError):
            reason = problem.java_exception.toString()
        raise DataError(
            "WD480",
            f"batch {batch_id} could not be written to topic {sink.topic!r}: {reason}",
            hint="the batch is written when the query is restarted; was another driver started "
            "from the same checkpoint?",
        ) from problem
