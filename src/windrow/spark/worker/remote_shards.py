"""Lending: a worker process lets another one on its host use a live shard that it holds.

Spark gives a bucket's next batch to whichever worker process is free, so the process that has the
live shard is often another one. Moving the shard would cost as much as its window; the batch is
small. So the borrower sends its rows to the holder, over a socket in a directory that only this
user can enter.

One connection is one use: the holder takes the shard out, changes it as asked, and puts it back
when the borrower says under which nonce. When the connection breaks before that, the shard is
dropped and the borrower builds its own from the state store.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import struct
import tempfile
import threading
import uuid
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.errors import WindrowError
from windrow.rows.frames import Parts, Section, read_frame, table_bytes, table_of, write_frame
from windrow.spark.shuffle.event_times import pack_times, unpack_times
from windrow.spark.shuffle.member_orders import MemberOrder
from windrow.spark.worker.live_shard import Live, StepInput, StepResult
from windrow.spark.worker.segments import Segment
from windrow.spark.worker.window_report import WindowReport
from windrow.windows.lifetime import lifetimes_from_json, lifetimes_to_json

__all__ = ["BorrowedShard", "Lender", "LentShardLostError", "borrow"]

# The longest that a borrower waits for the holder's answer before it builds its own shard.
ANSWER_LIMIT_S = 300.0

Instants = NDArray[np.int64]
Sections = list[Section]

_LENGTH = struct.Struct("<Q")


class LentShardLostError(Exception):
    """The holder went away in the middle of a use."""


class Shelf(Protocol):
    """Where the holder keeps its shards."""

    def take(self, owner: str, bucket: int, nonce: str) -> Live | None:
        """Takes a shard out."""

    def put(self, owner: str, bucket: int, nonce: str, live: Live) -> None:
        """Puts a shard back."""


class Lender:
    """Serves the shards of this process to its neighbours; `name` is how they find it."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self.name = f"{os.getpid()}-{uuid.uuid4().hex[:12]}"
        directory = _directory()
        _sweep(directory)
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(str(directory / self.name))
        self._server.listen()
        threading.Thread(target=self._serve, name="windrow-lender", daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._server.accept()
            threading.Thread(target=self._lend, args=(connection,), daemon=True).start()

    def _lend(self, connection: socket.socket) -> None:
        # A borrower that breaks off has the shard dropped; so has one that asks for nonsense.
        with connection, contextlib.suppress(OSError, EOFError, WindrowError, pa.ArrowException):
            key, _ = _receive(connection)
            live = self._shelf.take(key["owner"], key["bucket"], key["nonce"])
            _send(connection, {"found": live is not None})
            while live is not None:
                request, sections = _receive(connection)
                if request["do"] == "put":
                    self._shelf.put(key["owner"], key["bucket"], request["nonce"], live)
                    _send(connection, {})
                    return
                _send(connection, *_served(live, request, sections))


def borrow(holder: str, owner: str, bucket: int, nonce: str) -> BorrowedShard | None:
    """The shard that the holder of that name has, or None when it is not to be had."""
    path = _directory() / holder
    if not holder or not path.exists():
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(ANSWER_LIMIT_S)
        connection.connect(str(path))
        _send(connection, {"owner": owner, "bucket": bucket, "nonce": nonce})
        answer, _ = _receive(connection)
    except (OSError, EOFError):
        connection.close()
        with contextlib.suppress(OSError):
            path.unlink()  # nobody listens there any more
        return None
    if not answer["found"]:
        connection.close()
        return None
    return BorrowedShard(connection, holder)


class BorrowedShard:
    """A live shard in another process, used through its connection."""

    def __init__(self, connection: socket.socket, holder: str) -> None:
        self._connection = connection
        self.holder = holder

    def advance(self, step: StepInput) -> StepResult:
        """As Live.advance."""
        request = {
            "do": "advance",
            "until_us": step.until_us,
            "reached_us": step.reached_us,
            "positions": list(step.rows),
            "streams": list(step.times),
            "lifetimes": lifetimes_to_json(step.lifetimes),
            "life": step.life,
            "is_last": step.is_last,
            "orders": [order.to_json() for order in step.orders],
        }
        sections: Sections = [*map(table_bytes, step.rows.values())]
        sections += map(pack_times, step.times.values())
        answer, given = self._asked(request, sections)
        return StepResult(
            Parts(answer["partial"], given[1:]),
            unpack_times(given[0]),
            answer["applied"],
            answer["waiting"],
            answer["newest_instant_us"],
            tuple(map(WindowReport.from_json, answer["windows"])),
            answer["running"],
        )

    def snapshot(self) -> Segment:
        """As Live.snapshot."""
        _, given = self._asked({"do": "snapshot"}, [])
        return Segment.from_bytes(bytes(given[0]), -1)

    def give_back(self, nonce: str) -> None:
        """Has the holder keep the shard for the header of that nonce."""
        self._asked({"do": "put", "nonce": nonce}, [])
        self._connection.close()

    def _asked(
        self, request: dict[str, Any], sections: Sections
    ) -> tuple[dict[str, Any], list[memoryview]]:
        try:
            _send(self._connection, request, sections)
            return _receive(self._connection)
        except (OSError, EOFError) as problem:
            self._connection.close()
            raise LentShardLostError(str(problem)) from problem
        except BaseException:
            # Whatever else breaks off the use: the holder drops the shard when the line is closed.
            self._connection.close()
            raise


def _served(
    live: Live, request: dict[str, Any], sections: list[memoryview]
) -> tuple[dict[str, Any], Sections]:
    if request["do"] == "snapshot":
        return {}, [live.snapshot().to_bytes()]
    given = iter(sections)
    rows = {input_index: _one_batch(table_of(next(given))) for input_index in request["positions"]}
    times = {stream: unpack_times(next(given)) for stream in request["streams"]}
    step = StepInput(
        rows,
        times,
        request["until_us"],
        request["reached_us"],
        lifetimes_from_json(request["lifetimes"]),
        tuple(request["life"]),
        request["is_last"],
        [MemberOrder.from_json(order) for order in request["orders"]],
    )
    result = live.advance(step)
    answer = {
        "partial": result.partial.header,
        "applied": dict(result.applied),
        "waiting": dict(result.waiting),
        "newest_instant_us": result.newest_instant_us,
        "windows": [window.to_json() for window in result.windows],
        "running": result.running,
    }
    return answer, [pack_times(result.instants), *result.partial.sections]


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    return pa.concat_batches(table.to_batches())


def _send(
    connection: socket.socket, header: dict[str, Any], sections: Sections | None = None
) -> None:
    data = write_frame("message", header, sections or [])
    connection.sendall(_LENGTH.pack(len(data)))
    connection.sendall(data)


def _receive(connection: socket.socket) -> tuple[dict[str, Any], list[memoryview]]:
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    return read_frame("message", _exactly(connection, length), "message of a lender")


def _exactly(connection: socket.socket, length: int) -> memoryview:
    data = bytearray(length)
    whole = view = memoryview(data)
    while view:
        count = connection.recv_into(view)
        if count == 0:
            raise EOFError("the other side closed the connection")
        view = view[count:]
    return whole


def _directory() -> Path:
    """A directory that only this user can enter."""
    path = Path(tempfile.gettempdir()) / f"windrow-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) != 0o700:
        raise OSError(f"{path} does not belong to this user alone")
    return path


def _sweep(directory: Path) -> None:
    """Removes the sockets of processes that have ended: Spark ends its workers without notice."""
    for path in directory.iterdir():
        try:
            os.kill(int(path.name.partition("-")[0]), 0)
        except ProcessLookupError:
            path.unlink(missing_ok=True)
        except (ValueError, PermissionError):
            continue
