"""Whether Spark's class path has what Kafka and Avro need."""

from __future__ import annotations

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.sql import SparkSession

from windrow.errors import UnsupportedError

__all__ = ["require_avro", "require_kafka", "require_producer"]

_CONNECTOR = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
_PRODUCER = "org.apache.kafka.clients.producer.KafkaProducer"
_AVRO_READER = "org.apache.spark.sql.avro.AvroDataToCatalyst"


def require_kafka(spark: SparkSession) -> None:
    """Refuses a Spark session that cannot reach Kafka."""
    if not _has_class(spark, _CONNECTOR):
        raise _missing("WU480", "Kafka", f"spark-sql-kafka-0-10_2.13:{spark.version}")


def require_producer(spark: SparkSession) -> None:
    """Refuses a Spark session whose connector brings Kafka's classes under other names."""
    if not _has_class(spark, _PRODUCER):
        raise UnsupportedError(
            "WU482",
            f"this Spark session has a connector for Kafka, but no {_PRODUCER}",
            hint="add the jar org.apache.kafka:kafka-clients, or write with transactional=False",
        )


def require_avro(spark: SparkSession) -> None:
    """Refuses a Spark session that cannot read Avro."""
    if not _has_class(spark, _AVRO_READER):
        raise _missing("WU481", "Avro", f"spark-avro_2.13:{spark.version}")


def _has_class(spark: SparkSession, name: str) -> bool:
    jvm = spark._jvm
    assert jvm is not None  # the session is a classic one
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    try:
        jvm.java.lang.Class.forName(name, False, loader)
    except Py4JError:
        return False
    return True


def _missing(code: str, what: str, artifact: str) -> UnsupportedError:
    return UnsupportedError(
        code,
        f"this Spark session has no connector for {what}",
        hint=(
            f"start Spark with org.apache.spark:{artifact} and its dependencies: with "
            "--packages or spark.jars.packages, or as jars with --jars or spark.jars; windrow "
            "run takes --packages and --jars"
        ),
    )
