"""Topics of an MQTT broker, described as a source."""

from __future__ import annotations

import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, cast

from windrow.connectors.loading import loaded_with_client
from windrow.connectors.process_only import ProcessOnlySource
from windrow.connectors.scripted import Scripted
from windrow.errors import BindingError, Place, WindrowError
from windrow.event_time import span_of

if TYPE_CHECKING:
    from windrow.connectors.live import Guarantee, LiveReader, Position
    from windrow.connectors.options import Options
    from windrow.schema import StreamSchema

__all__ = ["SOURCES", "MqttSource", "ServerAddress"]

FORMATS = ("json", "csv", "avro", "confluent-avro", "confluent-json", "confluent-protobuf")
TIMES = ("column", "arrival")
# What a column may be instead of a field of the payload.
MESSAGE_PARTS = ("topic", "retain", "arrival")
_PORTS = {"mqtt": 1883, "mqtts": 8883}


@dataclass(frozen=True)
class ServerAddress:
    """Where a broker is, and who asks."""

    host: str
    port: int
    has_tls: bool
    user: str | None
    password: str | None = field(repr=False)


@dataclass(frozen=True)
class MqttSource(ProcessOnlySource):
    """Topics, with + and # for any part and all parts; several with commas between.

    client: the name under which the broker keeps what comes while nobody reads; one job, one name.
    qos: 1, or 0: messages are not acknowledged, and may be lost.

    >>> MqttSource("rooms/+/temp", "mqtt://me:secret@broker", "building").shown
    "mqtt('rooms/+/temp', client = 'building')"
    """

    is_live: ClassVar[bool] = True
    is_endless: ClassVar[bool] = True

    topic: str
    server: str = field(repr=False)  # it may hold a password
    client: str
    format: str = "json"
    qos: int = 1
    kept_for: str = "7 days"
    time_from: str = "column"
    from_message: Mapping[str, str] = field(default_factory=dict)
    delimiter: str = ","
    avro_schema: str | None = None
    registry: str | None = field(default=None, repr=False)
    ca: str | None = None  # a file with the certificates that are trusted, in PEM
    place: Place | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not self.topics or not self.client:
            hint = "write mqtt('rooms/+/temp', server = 'mqtt://host:1883', client = 'building')"
            raise self._wrong("needs a topic and a client", hint)
        self.parsed_server()
        for name, word, possible in (
            ("format", self.format, FORMATS),
            ("time_from", self.time_from, TIMES),
            *(("a column from the message", part, MESSAGE_PARTS) for part in self.parts),
        ):
            if word not in possible:
                shown = " or ".join(map(repr, possible))
                raise self._wrong(f"cannot have {name} = {word!r}", f"use {shown}")
        if self.qos not in (0, 1):
            raise self._wrong(f"cannot have qos = {self.qos}", "give 0 or 1")
        if self.format == "avro" and not self.avro_schema:
            raise self._wrong("needs avro_schema for Avro", "give the schema, or its file")
        is_told = self.registry or (self.format == "confluent-avro" and self.avro_schema)
        if self.format.startswith("confluent-") and not is_told:
            hint = "give its address: registry = 'http://host:8081'"
            raise self._wrong(f"needs the registry of {self.format!r}", hint)
        self.kept_s()

    @property
    def topics(self) -> list[str]:
        """The filters of topics."""
        return [name.strip() for name in self.topic.split(",") if name.strip()]

    @property
    def parts(self) -> list[str]:
        """The parts of messages that are columns."""
        return [*self.from_message.values()]

    def kept_s(self) -> int:
        """So long the broker keeps what comes while nobody reads."""
        try:
            return max(0, span_of(self.kept_for) // 1_000_000)
        except WindrowError:
            hint = "give a span, such as '7 days'"
            raise self._wrong(f"cannot have kept_for = {self.kept_for!r}", hint) from None

    def parsed_server(self) -> ServerAddress:
        """The server, from its address."""
        parts = urllib.parse.urlsplit(self.server)
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in _PORTS or not parts.hostname or port == -1:
            hint = "write mqtt://host:1883, or mqtts://user:password@host for TLS"
            raise self._wrong("has a server whose address cannot be read", hint)
        user, password = parts.username, parts.password
        return ServerAddress(
            parts.hostname,
            port or _PORTS[parts.scheme],
            parts.scheme == "mqtts",
            None if user is None else urllib.parse.unquote(user),
            None if password is None else urllib.parse.unquote(password),
        )

    @property
    def shown(self) -> str:
        """The topics and the client."""
        return f"mqtt('{self.topic}', client = '{self.client}')"

    @property
    def address(self) -> str:
        """The broker, without a password."""
        server = self.parsed_server()
        return f"{server.host}:{server.port}"

    @property
    def guarantee(self) -> Guarantee:
        """The broker gives messages again that were not acknowledged; with qos 0 none."""
        return "at least once" if self.qos else "at most once"

    def check(self, schema: StreamSchema) -> None:
        """Refuses columns that the stream lacks; the broker is asked when it is read."""
        known = [column.name for column in schema.columns]
        for name in self.from_message:
            if name not in known:
                hint = f"the columns of stream {schema.name!r} are {', '.join(known)}"
                raise self._wrong(f"has no column {name!r} to put a part of messages in", hint)
        loaded_with_client("mqtt.reader", "MQTT", "mqtt")

    def open_live(self, schema: StreamSchema, position: Position | None) -> LiveReader:
        """A reader with a connection of its own."""
        reader = loaded_with_client("mqtt.reader", "MQTT", "mqtt")
        return cast("LiveReader", reader.MqttReader(self, schema, position))

    def _wrong(self, problem: str, hint: str) -> BindingError:
        return BindingError("WB878", f"mqtt() {problem}", hint=hint, place=self.place)


def _described(options: Options) -> MqttSource:
    return MqttSource(
        options.text("topic"),
        options.text("server"),
        options.text("client"),
        options.one_of("format", FORMATS),
        int(options.flag("acknowledged", True)),
        options.text("kept_for", "7 days"),
        options.one_of("time_from", TIMES),
        _from_message(options),
        options.text("delimiter", ","),
        options.text("avro_schema", "") or None,
        options.text("registry", "") or None,
        options.text("ca", "") or None,
        options.place,
    )


def _from_message(options: Options) -> dict[str, str]:
    """Columns and parts of the message, as in 'device = topic'."""
    found = {}
    for entry in options.names("from_message") or ():
        column, equals, part = (word.strip() for word in entry.partition("="))
        if not equals or not column:
            raise BindingError(
                "WB878",
                f"mqtt() has {entry!r} in from_message, which names no column and its part",
                hint=f"write 'column = part', where a part is {', '.join(MESSAGE_PARTS)}",
                place=options.place,
            )
        found[column] = part.lower()
    return found


_OPTIONS = (
    *("topic", "server", "client", "format", "acknowledged", "kept_for", "time_from"),
    *("from_message", "delimiter", "avro_schema", "registry", "ca"),
)
SOURCES = {"mqtt": Scripted(_OPTIONS, _described)}
