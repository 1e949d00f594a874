"""Records of a Kafka topic as rows of a stream.

A value that cannot be read gives a row without a time: it is counted as bad_time and not lost.
Only Column calls build it; the columns' names never become text that Spark parses.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.avro.functions import from_avro
from pyspark.sql.types import DataType, StringType, StructField, StructType

from windrow.connectors.contract import OPERATION
from windrow.connectors.kafka.connector import KafkaSource
from windrow.connectors.kafka.record_columns import check_record_columns, value_columns
from windrow.connectors.kafka.spark_jars import require_avro, require_kafka
from windrow.connectors.kafka.spark_record_parts import record_part
from windrow.connectors.spark_columns import check_text_types, spark_type
from windrow.errors import BindingError
from windrow.schema import StreamSchema
from windrow.table_schema import TableSchema

__all__ = ["changelog_frame", "kafka_frame"]

MICROSECONDS_PER_MILLISECOND = 1_000

_ROW = "row"
_RECORD_TIME = "timestamp"
_CONFLUENT_HEADER_BYTES = 5  # a zero, and the number of the schema in a registry
# What may stand in a column of a wider type.
_WIDENED = {
    ("int", "bigint"),
    ("float", "double"),
    ("timestamp_ntz", "timestamp"),
}


def kafka_frame(spark: SparkSession, schema: StreamSchema, source: KafkaSource) -> DataFrame:
    """The rows of a topic, with the columns of the stream."""
    parts = {_RECORD_TIME, *source.from_record.values()}
    records = _records(spark, source).select("value", *sorted(parts))
    check_record_columns(schema, source)
    if source.is_avro:
        require_avro(spark)
    return (_from_avro if source.is_avro else _from_json)(records, schema, source)


def changelog_frame(spark: SparkSession, source: KafkaSource) -> DataFrame:
    """The keys and values of records, as they are."""
    return _records(spark, source).select("key", "value")


def _records(spark: SparkSession, source: KafkaSource) -> DataFrame:
    require_kafka(spark)
    return spark.readStream.format("kafka").options(**_reader_options(source)).load()


def _reader_options(source: KafkaSource) -> dict[str, Any]:
    options: dict[str, Any] = {
        # Records of transactions that were given up are no rows.
        "kafka.isolation.level": "read_committed",
        **source.options,
        "kafka.bootstrap.servers": source.servers,
        "subscribe": ",".join(source.topics),
    }
    starting_us = source.starting_us()
    if starting_us is None:
        options["startingOffsets"] = source.starting
    else:
        options["startingTimestamp"] = starting_us // MICROSECONDS_PER_MILLISECOND
        # Of a partition whose records are all older, those to come are read.
        options["startingOffsetsByTimestampStrategy"] = "latest"
    if "headers" in source.from_record.values():
        options["includeHeaders"] = "true"
    if source.max_offsets_per_batch is not None:
        options["maxOffsetsPerTrigger"] = source.max_offsets_per_batch
    return options


def _from_json(records: DataFrame, schema: StreamSchema, source: KafkaSource) -> DataFrame:
    check_text_types(schema, "json", source.place)
    kinds = _kinds(schema)
    names = [column.name for column in value_columns(schema, source)]
    fields = [StructField(name, kinds[name]) for name in names]
    # Spark puts the text of what it cannot read here, though it read some of its fields.
    damage = "damage"
    while any(field.name.lower() == damage for field in fields):
        damage += "_"
    kind = StructType([*fields, StructField(damage, StringType())])
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": damage, "timeZone": "UTC"}
    row = sql.from_json(sql.col("value").cast("string"), kind, options)
    read = records.withColumn(_ROW, row)
    is_good = sql.col(_ROW).isNotNull() & sql.col(_ROW).getField(damage).isNull()
    return _rows(read, schema, source, is_good)


def _from_avro(records: DataFrame, schema: StreamSchema, source: KafkaSource) -> DataFrame:
    value = sql.col("value")
    if source.format == "confluent-avro":
        is_framed = sql.substring(value, 1, 1) == sql.lit(b"\0")
        body = sql.substring(value, _CONFLUENT_HEADER_BYTES + 1, 2**31 - 1)
        value = sql.when(is_framed, body)
    row = from_avro(value, _avro_schema(source), {"mode": "PERMISSIVE"})
    read = records.withColumn(_ROW, row)
    kind = read.schema[_ROW].dataType
    # What cannot be read is a row of nothing but NULL to Spark.
    names = _avro_fields(kind, schema, source)
    found = [sql.when(sql.col(_ROW).getField(name).isNotNull(), True) for name in names]
    is_good = sql.coalesce(*found, sql.lit(False))
    return _rows(read, schema, source, is_good)


def _rows(read: DataFrame, schema: StreamSchema, source: KafkaSource, is_good: Column) -> DataFrame:
    kinds = _kinds(schema)
    columns = []
    for name, kind in kinds.items():
        is_record_time = name == schema.time and source.time_from == "record"
        value = sql.col(_RECORD_TIME) if is_record_time else sql.col(_ROW).getField(name)
        if name in source.from_record:
            value = record_part(source.from_record[name], schema.column(name).type)
        if name == schema.time:
            value = sql.when(is_good, value)
        columns.append(value.cast(kind).alias(name))
    if isinstance(schema, TableSchema):
        # What can be read neither as a row nor as a deletion is no operation: it ends the query.
        operation = sql.when(sql.col("value").isNull(), "-D").when(is_good, "+U")
        columns.append(operation.alias(OPERATION))
    return read.select(*columns)


def _kinds(schema: StreamSchema) -> dict[str, DataType]:
    """Spark's types of the columns; only the names of types are parsed."""
    return {column.name: DataType.fromDDL(spark_type(column.type)) for column in schema.columns}


def _avro_schema(source: KafkaSource) -> str:
    text = source.avro_schema or ""
    try:
        if not text.lstrip().startswith("{"):
            text = Path(text).read_text("utf-8")
        json.loads(text)
    except (OSError, ValueError) as problem:
        raise BindingError(
            "WB484",
            f"the Avro schema of topic {source.topic!r} cannot be read: {problem}",
            hint="give avro_schema the JSON text of a record's schema, or the path of its file",
            place=source.place,
        ) from None
    return text


def _avro_fields(kind: DataType, schema: StreamSchema, source: KafkaSource) -> list[str]:
    """The fields of the values; refused when the stream's columns are not among them."""
    if not isinstance(kind, StructType):
        found = f"values of type {kind.simpleString()}"
        raise _unfit(source, schema, found, "a record with the stream's columns is needed")
    held = {field.name: field.dataType.simpleString() for field in kind.fields}
    kinds = _kinds(schema)
    for name in (column.name for column in value_columns(schema, source)):
        wanted = kinds[name].simpleString()
        if name not in held:
            raise _unfit(source, schema, f"no field {name!r}", f"it has {', '.join(held)}")
        if held[name] != wanted and (held[name], wanted) not in _WIDENED:
            found = f"{held[name]} in field {name!r}"
            raise _unfit(source, schema, found, f"the stream's column is {wanted}")
    return list(held)


def _unfit(source: KafkaSource, schema: StreamSchema, found: str, hint: str) -> BindingError:
    message = (
        f"the Avro schema of topic {source.topic!r} has {found}, unlike stream {schema.name!r}"
    )
    return BindingError("WB485", message, hint=hint, place=source.place)
