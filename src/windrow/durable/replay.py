"""A replay: the records of a log, applied one after the other to a session that has just begun."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from windrow.alerts.bound_alert import bound_again
from windrow.durable.bodies import bad_rows_of, batch_of_body, versions_of_body
from windrow.durable.decisions import Made
from windrow.durable.declared import history_of, stream_of, table_of
from windrow.durable.errors import not_replayed, other_function
from windrow.durable.ingest import DurableStream
from windrow.durable.log_files import LogReader
from windrow.durable.records import Record
from windrow.durable.saved_session import load_session, load_tables, records_of
from windrow.durable.snapshots import Snapshot
from windrow.embedded.pushed_rows import PushedRows
from windrow.errors import CheckpointError, WindrowError
from windrow.plan.user_functions import GivenFunction
from windrow.rows.file_rows import FileRows

if TYPE_CHECKING:
    from windrow.durable.session import DurableSession

__all__ = ["Replay"]


class Replay:
    """Replays as far as it can: where a function of Python is missing, it waits for that.

    missing: the name and signature of that function.
    """

    def __init__(
        self, session: DurableSession, snapshot: Snapshot | None, reader: LogReader
    ) -> None:
        self._session = session
        saved = () if snapshot is None else records_of(snapshot)
        self._records = _with_decisions(chain(saved, reader.records()))
        self._waiting: tuple[Record, Made] | None = None
        self.missing: tuple[str, str] | None = None
        self.problem: CheckpointError | None = None  # why it cannot go on
        self.offered: dict[str, GivenFunction] = {}  # functions that were given meanwhile

    def run(self) -> bool:
        """Go on; whether the end of the log was reached."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # readers were warned then
                return self._has_ended()
        except CheckpointError as problem:
            if self.missing is None:
                self.problem = problem
            raise

    def _has_ended(self) -> bool:
        while True:
            self._waiting = self._waiting or next(self._records, None)
            if self._waiting is None:
                return True
            if not self._is_applied(*self._waiting):
                return False
            self._waiting = None

    def _is_applied(self, record: Record, made: Made) -> bool:
        if record.kind == "function" and not self._is_given(record.header):
            return False
        apply = _KINDS.get(record.kind)
        if apply is None:
            raise self._failed(record, f"nothing is known of {record.kind!r}")
        journal = self._session.journal
        try:
            with journal.replaying(record, made):
                apply(self, record)
        except CheckpointError:
            raise
        except WindrowError:
            pass  # what was refused then is refused again
        except (LookupError, ValueError, TypeError, AssertionError, pa.ArrowException) as problem:
            why = f"{type(problem).__name__}: {problem}"
            raise self._failed(record, why) from problem
        return True

    def _failed(self, record: Record, why: str) -> CheckpointError:
        return not_replayed(self._session.path, record.sequence, why)

    def _is_given(self, told: dict[str, Any]) -> bool:
        made = self.offered.get(told["name"])
        self.missing = told["name"], told["signature"]
        if made is None:
            return False
        if made.signature != told["signature"]:
            del self.offered[told["name"]]
            raise other_function(made.name, told["signature"], made.signature)
        self.missing = None
        return True

    # ---- what is declared

    def _function(self, record: Record) -> None:
        self._session.add_known_function(self.offered.pop(record.header["name"]))

    def _stream(self, record: Record) -> None:
        self._session.declare_stream(stream_of(record.header))

    def _table(self, record: Record) -> None:
        self._session.declare_table(table_of(record.header))

    def _view(self, record: Record) -> None:
        self._session.declare_view(record.header["name"], record.header["text"])

    def _history(self, record: Record) -> None:
        stream = self._session.ingest.stream(record.header["stream"]).schema
        self._session.declare_history(history_of(record.header, stream))

    def _query(self, record: Record) -> None:
        told = record.header
        asked = (told["text"], told["name"], told["algorithm"], told["store"])
        self._session.register(*asked, has_name=told.get("has_name"), plan=told.get("plan"))

    def _replace(self, record: Record) -> None:
        with suppress(CheckpointError):  # windows that did not agree then do not now
            told = record.header
            self._session.replaced(told["query"], told["text"], begin_anew=told["anew"])

    def _drop_view(self, record: Record) -> None:
        self._session.dropped_view(record.header["name"])

    def _stop(self, record: Record) -> None:
        self._session[record.header["query"]].stop()

    def _read(self, record: Record) -> None:
        told = record.header
        self._read_again(told["query"], told["what"], told["limit"])

    def _read_again(self, name: str, what: str, limit: int | None) -> pa.Table:
        query = self._session[name]
        return query.answers() if what == "answers" else query.changes(limit)

    def _saved_tables(self, record: Record) -> None:
        load_tables(self._session, record)

    def _saved_state(self, record: Record) -> None:
        load_session(self._session, record)

    # ---- what comes

    def _stream_of(self, record: Record) -> DurableStream:
        return self._session.ingest.streams[record.header["stream"]]

    def _batch(self, record: Record) -> None:
        stream = self._stream_of(record)
        rows = batch_of_body(record.sections[0], stream.schema.arrow)
        self._session.ingest.take(stream, PushedRows(rows))

    def _file_rows(self, record: Record) -> None:
        stream, told = self._stream_of(record), record.header
        batch = batch_of_body(record.sections[0], stream.schema.arrow)
        rows = FileRows(batch, tuple(bad_rows_of(told)))
        self._session.ingest.take_read(stream, rows)

    def _polled(self, record: Record) -> None:
        stream, told = self._stream_of(record), record.header
        batch = batch_of_body(record.sections[0], stream.schema.arrow)
        rows = FileRows(batch, tuple(bad_rows_of(told)))
        position = self._session.ingest.position_of(told)
        self._session.ingest.take_polled(told["stream"], rows, position)

    def _staged(self, record: Record) -> None:
        stream, told = self._stream_of(record), record.header
        batch = batch_of_body(record.sections[0], stream.schema.arrow)
        rows = FileRows(batch, tuple(bad_rows_of(told)))
        self._session.ingest.stage(told["stream"], rows, self._session.ingest.position_of(told))

    def _release(self, record: Record) -> None:
        self._session.ingest.release(record.header["stream"], record.header["rows"])

    def _end_stream(self, record: Record) -> None:
        self._session.ingest.end_stream(record.header["stream"])

    def _hold(self, record: Record) -> None:
        self._session.ingest.hold(record.header["stream"], is_held=record.header["held"])

    def _tables_read(self, record: Record) -> None:
        del record
        self._session.job_progress.has_read_tables = True

    def _written(self, record: Record) -> None:
        told = record.header
        self._session.job_progress.written[told["query"]] = told["batches"]
        changes = None
        for what, limit in told["reads"]:
            read = self._read_again(told["query"], what, limit)
            changes = read if what == "changes" else changes
        alert = self._session.alert_runs.get(told["query"])
        if alert is not None:
            alert.step_again(changes)

    def _alert(self, record: Record) -> None:
        told = record.header
        query = self._session[told["name"]]
        key = tuple(told["key"])
        bound = bound_again(query.name, query.text, query.plan, key, told["for_us"])
        self._session.begin_alert(bound, query)

    def _state_name(self, record: Record) -> None:
        self._session.job_progress.state_name = record.header["name"]

    def _rows(self, record: Record) -> None:
        stream = self._stream_of(record)
        batch = batch_of_body(record.sections[0], stream.schema.arrow)
        pushes = np.frombuffer(record.sections[1], np.int64).tolist()
        stream.gathered.add_again(batch, pushes)

    def _small_batches(self, record: Record) -> None:
        stream = self._stream_of(record)
        for body in record.sections:
            batch = batch_of_body(body, stream.schema.arrow)
            stream.batches.add(batch, is_urgent=not stream.takes_all(batch))
        self._session.ingest.has_batches = True

    def _set_aside(self, record: Record) -> None:
        self._stream_of(record).set_aside(bad_rows_of(record.header))

    def _reject(self, record: Record) -> None:
        self._stream_of(record).count_rejected(record.header["rows"])

    def _came(self, record: Record) -> None:
        self._session.ingest.note_came(record.header["stream"])

    def _change(self, record: Record) -> None:
        name, body = record.header["table"], record.sections[0]
        ingest = self._session.ingest
        ingest.change_table(name, lambda schema: versions_of_body(schema, body), 0)
        ingest.note_piece(name, record.header.get("piece", 0))

    def _reject_change(self, record: Record) -> None:
        self._session.ingest.reject_change(record.header["table"], record.header["rows"])

    def _flush(self, record: Record) -> None:
        del record
        self._session.ingest.flush()

    def _advance(self, record: Record) -> None:
        self._session.ingest.advance(record.header["stream"], record.header["to"])

    def _finish(self, record: Record) -> None:
        del record
        self._session.ingest.finish()

    def _memory(self, record: Record) -> None:
        self._session.changed_memory(record.header["bytes"])

    def _settings(self, record: Record) -> None:
        """They were read before the session was made."""


def _with_decisions(records: Iterator[Record]) -> Iterator[tuple[Record, Made]]:
    """Each record with what was decided while it was applied.

    A process that ended before that was written had told nobody: then nothing was decided.
    """
    waiting: Record | None = None
    for record in records:
        if record.kind == "decided":
            assert waiting is not None
            yield waiting, record.header["made"]
            waiting = None
            continue
        if waiting is not None:
            yield waiting, []
        waiting = record
    if waiting is not None:
        yield waiting, []


_KINDS: dict[str, Callable[[Replay, Record], None]] = {
    "settings": Replay._settings,
    "memory": Replay._memory,
    "function": Replay._function,
    "stream": Replay._stream,
    "table": Replay._table,
    "view": Replay._view,
    "history": Replay._history,
    "query": Replay._query,
    "tables": Replay._saved_tables,
    "state": Replay._saved_state,
    "stop": Replay._stop,
    "replace": Replay._replace,
    "drop view": Replay._drop_view,
    "read": Replay._read,
    "batch": Replay._batch,
    "file rows": Replay._file_rows,
    "polled": Replay._polled,
    "staged": Replay._staged,
    "release": Replay._release,
    "end stream": Replay._end_stream,
    "hold": Replay._hold,
    "tables read": Replay._tables_read,
    "written": Replay._written,
    "state name": Replay._state_name,
    "alert": Replay._alert,
    "rows": Replay._rows,
    "small batches": Replay._small_batches,
    "set aside": Replay._set_aside,
    "reject": Replay._reject,
    "came": Replay._came,
    "change": Replay._change,
    "reject change": Replay._reject_change,
    "flush": Replay._flush,
    "advance": Replay._advance,
    "finish": Replay._finish,
}
