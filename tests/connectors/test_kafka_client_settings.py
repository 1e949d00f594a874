"""Settings of Kafka's Java client as librdkafka has them."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer

from windrow import sources
from windrow.connectors.kafka.client_settings import client_settings
from windrow.errors import BindingError
from windrow.schema import StreamSchema, columns_of

JAAS = (
    "org.apache.kafka.common.security.scram.ScramLoginModule required "
    'username="me" password="s3\\"cret" ;'
)


def test_names_of_the_java_client_are_translated() -> None:
    options = {
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "SCRAM-SHA-256",
        "kafka.sasl.jaas.config": JAAS,
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.location": "ca.pem",
        "kafka.fetch.max.wait.ms": "50",
        "kafka.max.poll.records": "5",
    }
    settings = client_settings("h:1", options)
    assert settings == {
        "bootstrap.servers": "h:1",
        "security.protocol": "SASL_SSL",
        "sasl.mechanisms": "SCRAM-SHA-256",
        "sasl.username": "me",
        "sasl.password": 's3"cret',
        "ssl.ca.location": "ca.pem",
        "fetch.wait.max.ms": "50",
    }
    del settings["ssl.ca.location"]  # which is opened at once
    Consumer({**settings, "group.id": "g"}).close()


@pytest.mark.parametrize(
    "options",
    [
        {"kafka.sasl.jaas.config": "com.example.OtherLoginModule required secret='x';"},
        {"kafka.ssl.truststore.location": "trust.jks"},
        {"kafka.ssl.keystore.location": "keys.pem", "kafka.ssl.keystore.type": "PEM"},
    ],
)
def test_what_only_java_understands_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(BindingError, match="WB870") as raised:
        client_settings("h:1", options)
    assert "secret='x'" not in str(raised.value)


def test_sources_that_cannot_be_read_in_this_process() -> None:
    schema = StreamSchema("s", columns_of("ts timestamp"), "ts")
    with pytest.raises(BindingError, match="WB710"):
        sources.kafka("t", "h:1", format="upsert-json").check(schema)
    with pytest.raises(BindingError, match=r"WB872.*registry"):
        sources.kafka("t", "h:1", format="confluent-json")
    with pytest.raises(BindingError, match="WB480"):
        sources.kafka("t", "h:1", group="")
