"""Arrow batches of one row, as the values that the row has.

Arrow gives out a value of a batch in about a microsecond. To write the whole batch as a message and
to read the bytes takes that long for all of its values.
"""

from __future__ import annotations

import struct

import pyarrow as pa

from windrow.rows.row_reader import FROM_US, TO_US, PlainRow, RowReader
from windrow.schema import StreamSchema

__all__ = ["OneRowBatches", "batch_reader"]

# How values lie in messages: each begins at a multiple of eight bytes.
_PACKED = {
    pa.timestamp("us").id: "q", pa.int64().id: "q", pa.float64().id: "d",
    pa.int32().id: "i4x", pa.int16().id: "h6x", pa.int8().id: "b7x",
}  # fmt: skip
# So many messages are written before their memory is given back.
MESSAGES = 512


def batch_reader(stream: StreamSchema, read: RowReader) -> RowReader:
    """Reads Arrow batches of one row that have the stream's types; read: what reads its values.

    >>> from windrow.rows.row_reader import values_reader
    >>> from windrow.schema import columns_of
    >>> stream = StreamSchema("s", columns_of("ts timestamp, x int"), "ts")
    >>> read = batch_reader(stream, values_reader(stream))
    >>> read(pa.record_batch([[86400000000 * 365 * 50], [1]], schema=stream.arrow))
    (1576800000000000, 1)
    """
    if all(kind.id in _PACKED for kind in stream.arrow.types):
        return OneRowBatches(stream, read).values
    return _Scalars(stream, read).values


class OneRowBatches:
    """Batches of a schema that has values of a few fixed sizes alone.

    A batch of one row without NULL has a head that is always the same, and then its values. What is
    written in another way is read by its scalars.
    """

    def __init__(self, stream: StreamSchema, read: RowReader) -> None:
        self._schema, self._read = stream.arrow, read
        self._scalars = _Scalars(stream, read)
        self._time = stream.arrow.get_field_index(stream.time)
        self._is_plain_time = stream.options.unit is None
        self._memory = bytearray()
        self._next = self._end = 0  # places in the memory for messages

    def values(self, batch: pa.RecordBatch) -> PlainRow | None:
        """The row of a batch; None: not surely one."""
        if batch.num_rows != 1:
            return None
        place = self._next
        if place == self._end:
            place = self._begin()
        # Whatever breaks this off, no place is read again: what is there was another row.
        self._next = place + self._size
        try:
            self._write(batch)
        except pa.ArrowInvalid:
            is_other = not batch.schema.equals(self._schema)  # then nothing was written
            self._next = place if is_other else self._end
            return None
        except OSError:  # with NULL it is longer than what is left
            self._next = self._end
            return self._scalars.values(batch)
        if not self._memory.startswith(self._head, place):
            self._next = self._end
            return self._scalars.values(batch)
        row = self._unpack(self._memory, place + self._head_size)
        if self._is_plain_time and FROM_US <= row[self._time] < TO_US:
            return row
        return self._read(row)

    def _begin(self) -> int:
        """Memory without rows that were pushed; where the first message will be."""
        self._next = self._end  # until it is whole
        if not self._memory:
            self._learn()
        # A row of before would be taken for one that was not written after all.
        self._memory[:] = bytes(len(self._memory))
        sink = pa.FixedSizeBufferWriter(pa.py_buffer(self._memory))
        self._write = pa.ipc.new_stream(sink, self._schema).write_batch
        self._write(self._shown)  # the schema comes before the first row
        self._end = len(self._memory)
        place: int = sink.tell()
        return place

    def _learn(self) -> None:
        """How a row is written, by one that is."""
        schema = self._schema
        codes = [_PACKED[kind.id] for kind in schema.types]
        numbers = range(1, len(codes) + 1)
        arrays = [pa.array([i], kind) for i, kind in zip(numbers, schema.types, strict=True)]
        self._shown = pa.record_batch(arrays, schema=schema)
        message = self._shown.serialize().to_pybytes()
        values = struct.Struct("<" + "".join(codes))
        self._size, self._head_size = len(message), len(message) - values.size
        self._head, self._unpack = message[: self._head_size], values.unpack_from
        self._memory = bytearray(schema.serialize().size + (1 + MESSAGES) * self._size)


class _Scalars:
    """Batches of one row, value by value."""

    def __init__(self, stream: StreamSchema, read: RowReader) -> None:
        self._schema, self._read = stream.arrow, read
        self._places = [(i, pa.types.is_timestamp(t)) for i, t in enumerate(stream.arrow.types)]

    def values(self, batch: pa.RecordBatch) -> PlainRow | None:
        """The row of a batch; None: not surely one."""
        if batch.num_rows != 1 or not batch.schema.equals(self._schema):
            return None
        column = batch.column
        try:
            row = tuple(
                [
                    column(i)[0].value if is_time else column(i)[0].as_py()
                    for i, is_time in self._places
                ]
            )
        except (UnicodeDecodeError, ValueError, OverflowError):
            return None  # damaged, which conversion.py says
        return self._read(row)
