"""Orders of the control stream: read as they were written, or refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from windrow.errors import CheckpointError
from windrow.spark.processes.shipped_errors import ShippedError, received_error
from windrow.spark.shuffle import control
from windrow.spark.shuffle.control import (
    check_orders,
    order_advance,
    order_finish,
    packet_of_line,
)
from windrow.storage import Storage


def test_orders_are_lines_that_can_be_checked(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    order_finish(storage, ["a", "b"])
    check_orders(storage)
    (name,) = storage.names()
    packets = [packet_of_line(line) for line in (tmp_path / name).read_text().splitlines()]
    assert [packet.stream for packet in packets] == ["a", "b"]


def test_a_damaged_order_is_refused(tmp_path: Path) -> None:
    order_advance(Storage(tmp_path), "a", 1_000_000)
    (path,) = tmp_path.iterdir()
    line = path.read_text().rstrip()
    assert packet_of_line(line).complete_through_us == 1_000_000
    for damaged in (line.replace("1000000", "2000000"), line[:-1], "", line.replace('"a"', '"b"')):
        with pytest.raises(CheckpointError, match="WC205"):
            packet_of_line(damaged)


def test_an_order_that_is_no_text_any_more_is_refused(tmp_path: Path) -> None:
    order_advance(Storage(tmp_path), "a", 1_000_000)
    (path,) = tmp_path.iterdir()
    line = path.read_bytes().rstrip()
    kind = pc.CastOptions(pa.string(), allow_invalid_utf8=True)
    for damaged, code in ((line, None), (line.replace(b"stream", b"\xe1tream"), "WC205")):
        column = pc.cast(pa.array([damaged], pa.binary()), options=kind)
        batches = control._sent_to_all((0, 1))(iter([pa.record_batch([column], ["value"])]))
        if code is None:
            assert [batch.num_rows for batch in batches] == [2]
            continue
        with pytest.raises(ShippedError) as raised:
            list(batches)
        error = received_error(str(raised.value))
        assert error is not None
        assert error.code == code


def test_an_order_without_bytes_is_refused(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    order_advance(storage, "a", 1_000_000)
    (path,) = tmp_path.iterdir()
    path.write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"WC205.*empty"):
        check_orders(storage)


def test_what_a_killed_writer_left_is_swept_away(tmp_path: Path) -> None:
    storage = Storage(tmp_path)
    storage.write("whole", b"1")
    (tmp_path / f".half.{'0' * 32}").write_bytes(b"1")
    (tmp_path / ".half.crc").write_bytes(b"not ours")
    storage.sweep()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".half.crc", "whole"]
