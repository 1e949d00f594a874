"""Reads topics of an MQTT broker; a message is acknowledged when it is in the state, on the disk.

All is done in the thread that polls: the client's loop is turned by it, a few packets at a time.
The broker holds back what it may not send before earlier messages are acknowledged.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from windrow.column_types import TIMESTAMP
from windrow.connectors.live import LiveReader, Polled, Position, TransientError
from windrow.connectors.values.formats import Values, value_format
from windrow.connectors.values.messages import Messages, rows_of_messages
from windrow.errors import DataError

if TYPE_CHECKING:
    from windrow.connectors.mqtt.connector import MqttSource
    from windrow.schema import StreamSchema

__all__ = ["MOST_UNACKNOWLEDGED", "MqttReader"]

_LOGGER = logging.getLogger(__name__)

# So many messages a broker may send before the first of them is acknowledged.
MOST_UNACKNOWLEDGED = 65_535
BATCH_BYTES = 8 << 20
# So long messages are gathered after the first has come.
GATHERING_S = 0.005
# So long the broker has to let the client in, and to take its topics.
ANSWER_S = 10.0
LEAVE_S = 1.0
# Nothing is ever published there.
NO_TOPIC = "windrow/nothing"
# The loop is not turned while rows wait to be taken: the broker must bear that.
KEEPALIVE_S = 300
_TAKEN_OVER = "Session taken over"
# What only a person can change, in the words of the protocol.
_LASTING = (
    "Bad user name or password",
    "Banned",
    "Bad authentication method",
    "Client identifier not valid",
    "Not authorized",
    "Topic filter invalid",
    "Unsupported protocol version",
    "Wildcard subscriptions not supported",
    _TAKEN_OVER,
)


class _Taken(NamedTuple):
    """A message that waits to be acknowledged: which it is of all, and its name for the broker."""

    number: int
    mid: int


class MqttReader(LiveReader):
    """The position is how many messages were read: it says which of them to acknowledge."""

    def __init__(self, source: MqttSource, schema: StreamSchema, position: Position | None) -> None:
        self._source, self._schema = source, schema
        self._format = value_format(_values(source, schema))
        self._count = 0 if position is None else int(position["messages"])
        self._waiting: deque[_Taken] = deque()
        self._came: list[tuple[MQTTMessage, int]] = []
        self._bytes = 0
        self._answer: ReasonCode | None = None  # of the last thing that was asked
        self._is_answered = False
        self._client = self._made()
        try:
            self._connect(is_lost=position is not None)
        except BaseException:
            self.close()
            raise

    def poll(self, most_rows: int, timeout_s: float) -> Polled | None:
        """The messages that came, in their order."""
        self._turn_until(time.monotonic() + timeout_s)
        while self._came and len(self._came) < most_rows and self._bytes < BATCH_BYTES:
            before = len(self._came)
            self._turn(GATHERING_S)
            if len(self._came) == before:
                break
        if not self._came:
            return None
        came, self._came, self._bytes = self._came, [], 0
        first = self._count + 1
        for message, _ in came:
            self._count += 1
            if message.qos:
                self._waiting.append(_Taken(self._count, message.mid))
        rows = rows_of_messages(
            self._schema, self._messages(came, first), self._format, self._source.place
        )
        return Polled(rows, {"messages": self._count})

    def confirmed(self, position: Position) -> None:
        """Messages up to there are acknowledged: the broker forgets them."""
        while self._waiting and self._waiting[0].number <= position["messages"]:
            self._client.ack(self._waiting.popleft().mid, 1)

    def close(self) -> None:
        """Takes leave; the broker keeps what comes, and what was not acknowledged."""
        self._client.on_disconnect = None
        if self._client.is_connected():
            self._await_acknowledgements()
        self._client.disconnect()
        self._client.loop(0.0)

    def _await_acknowledgements(self) -> None:
        """A broker may drop what it has not read when a client goes: it is asked, and answers."""
        deadline, self._is_answered = time.monotonic() + LEAVE_S, False
        code, _ = self._client.unsubscribe(NO_TOPIC)
        while code == MQTTErrorCode.MQTT_ERR_SUCCESS and not self._is_answered:
            if time.monotonic() > deadline:
                return
            code = self._client.loop(0.05)

    # ---- the connection

    def _made(self) -> Client:
        server = self._source.parsed_server()
        client = Client(
            CallbackAPIVersion.VERSION2,
            client_id=self._source.client,
            protocol=MQTTProtocolVersion.MQTTv5,
            manual_ack=True,
            reconnect_on_failure=False,
        )
        if server.user is not None:
            client.username_pw_set(server.user, server.password)
        if server.has_tls:
            try:
                client.tls_set(ca_certs=self._source.ca)
            except OSError as problem:
                hint = "name a file in PEM that this user may read"
                raise self._refused(f"its certificates cannot be read: {problem}", hint) from None
        client.on_message = self._message
        client.on_connect = self._answered
        client.on_subscribe = self._subscribed
        client.on_unsubscribe = self._unsubscribed
        client.on_disconnect = self._disconnected
        return client

    def _connect(self, *, is_lost: bool) -> None:
        server, source = self._source.parsed_server(), self._source
        given = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        given.SessionExpiryInterval = source.kept_s()
        given.ReceiveMaximum = MOST_UNACKNOWLEDGED
        try:
            self._client.connect(
                server.host, server.port, KEEPALIVE_S, clean_start=False, properties=given
            )
        except (OSError, ValueError) as problem:
            raise TransientError(f"{source.shown} at {source.address}: {problem}") from None
        self._has_session = False
        self._await_answer("it did not answer")
        if is_lost and not self._has_session:
            told = "%s: the broker has kept nothing: messages since the last run are lost"
            _LOGGER.warning(told, source.shown)
        options = SubscribeOptions(qos=source.qos)
        code, _ = self._client.subscribe([(topic, options) for topic in source.topics])
        self._check(code)
        self._await_answer("it did not take the topics")

    def _await_answer(self, problem: str) -> None:
        deadline = time.monotonic() + ANSWER_S
        while (answer := self._answer) is None:
            if time.monotonic() > deadline:
                raise TransientError(f"{self._source.shown} at {self._source.address}: {problem}")
            self._turn(0.1)
        self._answer = None
        if answer.is_failure:
            raise self._failed(answer)

    def _turn_until(self, deadline: float) -> None:
        """Turns the loop until a message has come, or the time is up; at least once."""
        while not self._came:
            self._turn(max(0.0, deadline - time.monotonic()))
            if time.monotonic() >= deadline:
                return

    def _turn(self, timeout_s: float) -> None:
        self._check(self._client.loop(timeout_s))

    def _check(self, code: MQTTErrorCode) -> None:
        if code == MQTTErrorCode.MQTT_ERR_SUCCESS:
            return
        if self._answer is not None and self._answer.is_failure:
            raise self._failed(self._answer)
        raise TransientError(
            f"{self._source.shown} at {self._source.address}: the connection is lost ({code.name})"
        )

    def _failed(self, answer: ReasonCode) -> Exception:
        said = str(answer)
        if said not in _LASTING:
            return TransientError(f"{self._source.shown} at {self._source.address}: {said}")
        hint = "correct the name and password in server=, the topics, or the broker's access lists"
        if said == _TAKEN_OVER:
            hint = "another program has connected as this client: give each job a client of its own"
        return self._refused(said, hint)

    def _refused(self, problem: str, hint: str) -> DataError:
        source = self._source
        return DataError(
            "WD878",
            f"{source.shown} cannot be read at {source.address}: {problem}",
            hint=hint,
            place=source.place,
        )

    # ---- called by the client's loop

    def _message(self, _client: Client, _data: Any, message: MQTTMessage) -> None:
        self._came.append((message, time.time_ns() // 1_000))
        self._bytes += len(message.payload)

    def _answered(
        self, _client: Client, _data: Any, flags: Any, answer: ReasonCode, _given: Any
    ) -> None:
        self._answer, self._has_session = answer, flags.session_present

    def _subscribed(
        self, _client: Client, _data: Any, _mid: int, answers: list[ReasonCode], _given: Any
    ) -> None:
        wrong = (each for each in answers if each.is_failure)
        self._answer = next(wrong, answers[0])

    def _unsubscribed(self, _client: Client, _data: Any, _mid: int, _a: Any, _given: Any) -> None:
        self._is_answered = True

    def _disconnected(
        self, _client: Client, _data: Any, _flags: Any, answer: ReasonCode, _given: Any
    ) -> None:
        # The first that is said is why; the connection that is lost after it says nothing more.
        if self._answer is None or not self._answer.is_failure:
            self._answer = answer

    # ---- rows

    def _messages(self, came: list[tuple[MQTTMessage, int]], first: int) -> Messages:
        parts = {name: _part(part, came) for name, part in self._source.from_message.items()}
        if self._source.time_from == "arrival":
            parts.setdefault(self._schema.time, _part("arrival", came))
        return Messages(
            [bytes(message.payload) for message, _ in came],
            [f"topic {message.topic!r}" for message, _ in came],
            range(first, first + len(came)),
            parts,
        )


def _values(source: MqttSource, schema: StreamSchema) -> Values:
    beside = {*source.from_message, *([schema.time] if source.time_from == "arrival" else ())}
    return Values(
        source.format,
        schema,
        [column for column in schema.columns if column.name not in beside],
        source.shown,
        source.delimiter,
        source.avro_schema,
        source.registry,
        source.place,
    )


def _part(part: str, came: list[tuple[MQTTMessage, int]]) -> Any:
    if part == "topic":
        return [message.topic for message, _ in came]
    if part == "retain":
        return [message.retain for message, _ in came]
    return pa.array([at_us for _, at_us in came], TIMESTAMP.arrow)
