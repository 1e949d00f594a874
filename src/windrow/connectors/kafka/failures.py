"""What Kafka's client says has failed: whether it may pass, and the error that a person reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from confluent_kafka import KafkaError, KafkaException

from windrow.connectors.live import TransientError
from windrow.errors import DataError

if TYPE_CHECKING:
    from windrow.connectors.kafka.connector import KafkaSource

__all__ = ["is_transient", "named_failures", "raised"]

# What only a person can end; librdkafka tries again for ever, and says nothing more.
_LASTING = (
    KafkaError._AUTHENTICATION,
    KafkaError._AUTO_OFFSET_RESET,
    KafkaError._INVALID_ARG,
    KafkaError._SSL,
    KafkaError._UNSUPPORTED_FEATURE,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.OFFSET_OUT_OF_RANGE,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.TOPIC_EXCEPTION,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError._UNKNOWN_TOPIC,
)
_DELETED = (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE)


def is_transient(error: KafkaError) -> bool:
    """Whether it may pass by itself: a broker that starts again, a leader that is chosen."""
    return not error.fatal() and error.code() not in _LASTING


def raised(error: KafkaError, source: KafkaSource) -> Exception:
    """The error that ends a source, or lets it be opened again."""
    if is_transient(error):
        return TransientError(f"{source.shown} at {source.servers}: {error.str()}")
    hint = "correct what is named in the source, on the brokers, or in the rights of the user"
    if error.code() in _DELETED:
        hint = (
            "records were deleted before they were read (retention): begin with a new state, or "
            "have the topic keep its records for longer"
        )
    return DataError(
        "WD873",
        f"{source.shown} cannot be read at {source.servers}: {error.str()}",
        hint=hint,
        place=source.place,
    )


@contextmanager
def named_failures(source: KafkaSource) -> Iterator[None]:
    """What Kafka's client raises within becomes an error that names the source."""
    try:
        yield
    except KafkaException as problem:
        raise raised(problem.args[0], source) from problem
