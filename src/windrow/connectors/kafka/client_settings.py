"""Settings of Kafka's client, as a script has them for both: the Java client's names, and ours.

On Spark a client in Java reads the topic, in this process librdkafka. Most of their settings have
the same names; of those that differ, these are translated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from windrow.errors import BindingError, Place

__all__ = ["OPTION_PREFIX", "client_settings"]

OPTION_PREFIX = "kafka."

_JAAS = "sasl.jaas.config"
_JAAS_VALUE = re.compile(r"""(\w+)\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""")
# The Java client's names, and librdkafka's.
_RENAMED = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "sasl.mechanism": "sasl.mechanisms",
}
# Of stores in PEM or PKCS#12, which OpenSSL reads; not of Java's own.
_STORES = {
    ("ssl.truststore.location", "PEM"): "ssl.ca.location",
    ("ssl.truststore.certificates", "PEM"): "ssl.ca.pem",
    ("ssl.keystore.location", "PKCS12"): "ssl.keystore.location",
    ("ssl.keystore.certificate.chain", "PEM"): "ssl.certificate.pem",
    ("ssl.keystore.key", "PEM"): "ssl.key.pem",
}
_STORE_PARTS = {name for name, _ in _STORES}
_STORE_TYPES = ("ssl.truststore.type", "ssl.keystore.type")
# What only the Java client has, and what means nothing here.
_WITHOUT_MEANING = ("ssl.truststore.password", "max.poll.records", "enable.metrics.push")


def client_settings(
    servers: str, options: Mapping[str, str], place: Place | None = None
) -> dict[str, str]:
    """What librdkafka is given.

    >>> given = {"kafka.fetch.max.wait.ms": "50", "kafka.security.protocol": "SSL"}
    >>> found = client_settings("broker:9092", given)
    >>> found["fetch.wait.max.ms"], found["security.protocol"]
    ('50', 'SSL')
    """
    given = {name.removeprefix(OPTION_PREFIX): value for name, value in options.items()}
    types = {name: given.pop(name, "JKS").upper() for name in _STORE_TYPES}
    settings = {"bootstrap.servers": servers}
    for name, value in given.items():
        if name == _JAAS:
            settings |= _of_jaas(value, place)
        elif name in _STORE_PARTS:
            settings[_store_name(name, types, place)] = value
        elif name not in _WITHOUT_MEANING:
            settings[_RENAMED.get(name, name)] = value
    return settings


def _store_name(name: str, types: Mapping[str, str], place: Place | None) -> str:
    kind = types[f"{'.'.join(name.split('.')[:2])}.type"]
    found = _STORES.get((name, kind))
    if found is None:
        raise BindingError(
            "WB870",
            f"kafka.{name} of type {kind} can only be read by Java",
            hint="in this process give kafka.ssl.ca.location, kafka.ssl.certificate.location and "
            "kafka.ssl.key.location with files in PEM, or stores of type PEM or PKCS12",
            place=place,
        )
    return found


def _of_jaas(text: str, place: Place | None) -> dict[str, str]:
    """The name and the password; what it is, is not repeated, for it holds them."""
    values = {
        name: re.sub(r"\\(.)", r"\1", value[1:-1]) for name, value in _JAAS_VALUE.findall(text)
    }
    if (
        not re.search(r"\b(?:Plain|Scram)LoginModule\b", text)
        or not {
            "username",
            "password",
        }
        <= values.keys()
    ):
        raise BindingError(
            "WB870",
            "kafka.sasl.jaas.config is understood in this process only with PlainLoginModule or "
            "ScramLoginModule, a username and a password",
            hint="give kafka.sasl.username and kafka.sasl.password, or other settings of "
            "librdkafka",
            place=place,
        )
    return {"sasl.username": values["username"], "sasl.password": values["password"]}
