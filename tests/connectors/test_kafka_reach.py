"""A Kafka that is not there, or never answers: said within seconds, by its address."""

from __future__ import annotations

import os
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast

import pytest

from windrow.connectors.kafka import reach as kafka_reach
from windrow.connectors.kafka.reach import check_servers
from windrow.errors import DataError
from windrow.interruption import Interruption
from windrow.jobs.job import job_of
from windrow.jobs.watcher import JobWatcher
from windrow.spark.driver import job as spark_job
from windrow.spark.driver.failures import failure_of

TLS = {"kafka.security.protocol": "SASL_SSL"}


def answer_as_kafka(connection: socket.socket) -> None:
    length, key, version, number, _ = struct.unpack(">ihhih", connection.recv(100))
    assert (length, key, version) == (10, 18, 0)
    connection.sendall(struct.pack(">iihi", 10, number, 0, 0))


def answer_as_others(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def hang_up(connection: socket.socket) -> None:
    connection.recv(100)


@contextmanager
def server(answer: Callable[[socket.socket], None] | None) -> Iterator[str]:
    """The address of a server; without an answer it accepts and is silent."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError):
                connection, _ = listening.accept()
                with connection:
                    if answer is not None:
                        answer(connection)

        if answer is not None:
            threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def closed_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return f"127.0.0.1:{listening.getsockname()[1]}"


def test_a_broker_answers() -> None:
    with server(answer_as_kafka) as address:
        check_servers(f"{closed_port()}, PLAINTEXT://{address}", {})


@pytest.mark.parametrize(
    ("answer", "why"),
    [(answer_as_others, "not Kafka"), (hang_up, "closed the connection|reset by peer")],
)
def test_something_else_answers(answer: Callable[[socket.socket], None], why: str) -> None:
    with server(answer) as address, pytest.raises(DataError, match=f"WD481.*{address}: .*({why})"):
        check_servers(address, {})


def test_any_answer_to_tls_will_do() -> None:
    with server(answer_as_others) as address:
        check_servers(address, TLS)


def test_nobody_is_there() -> None:
    port = closed_port()
    with pytest.raises(DataError, match=rf"WD481.*{port}.*refused"):
        check_servers(port, {})


@pytest.mark.parametrize("options", [{}, TLS], ids=["plain", "tls"])
def test_nobody_answers(options: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_reach, "REACH_LIMIT_S", 0.2)
    with server(None) as address, pytest.raises(DataError, match=rf"WD481.*{address}.*"):
        check_servers(address, options)


def test_what_no_address_is_is_left_to_the_client() -> None:
    check_servers("nonsense", {})


def test_the_limit_is_well_below_what_users_wait() -> None:
    assert kafka_reach.REACH_LIMIT_S <= 10


@pytest.mark.parametrize(
    ("number", "ended"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)]
)
def test_a_signal_ends_the_wait(
    number: signal.Signals, ended: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_reach, "REACH_LIMIT_S", 60.0)
    before = time.monotonic()
    threading.Timer(0.1, os.kill, (os.getpid(), number)).start()
    with server(None) as address, pytest.raises(ended), Interruption():
        check_servers(address, {})
    assert time.monotonic() - before < 30


def test_a_job_is_refused_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_spark(**_: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(spark_job, "local_session", no_spark)
    port = closed_port()
    job = job_of(
        f"SET checkpoint = '{tmp_path}/state'; "
        f"CREATE STREAM s (ts TIMESTAMP, n BIGINT) TIME ts FROM kafka('t', servers = '{port}'); "
        "CREATE QUERY q AS SELECT COUNT(*) AS c FROM s [1 MINUTE] INTO memory();"
    )
    with pytest.raises(DataError, match=rf"WD481.*{port}") as refused:
        spark_job.run_on_spark(job, cast("JobWatcher", None))
    assert refused.value.place is not None


def test_a_time_out_of_the_client_names_the_servers() -> None:
    text = (
        "[STREAM_FAILED] Query [id = 1] terminated with exception: "
        "org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment."
    )
    error = failure_of("query 'q'", Exception(text), "host:9092")
    assert (error.code, "host:9092" in error.message) == ("WD482", True)
    assert failure_of("query 'q'", Exception(text)).code == "WX401"
