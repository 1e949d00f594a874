"""Streams in a snapshot: how far they are, what became of their rows, and those that are kept."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from windrow.durable.bodies import bad_rows_header, bad_rows_of
from windrow.durable.ingest import DurableStream
from windrow.durable.saved_parts import SavedParts, SavedReader
from windrow.embedded.kept_rows import KeptRows

__all__ = ["load_stream", "saved_stream"]

_OWN = ("newest_row_us", "first_us", "believed_until_us", "_times_kept")
_RATE = ("_rows", "_first_us", "_last_us")
_REACHED = ("through", "newest")


def saved_stream(stream: DurableStream, parts: SavedParts) -> dict[str, Any]:
    """A stream of which no row waits to be applied."""
    stream._count_came()
    kept = stream.kept
    return {
        **{name: getattr(stream, name) for name in _OWN},
        "reached": [getattr(stream.completeness, name) for name in _REACHED],
        "rate": [getattr(stream._rate, name) for name in _RATE],
        "ledger": asdict(stream._ledger),
        "news": [list(stream.news), sorted(stream._told)],
        "times": parts.add_numbers(stream._times.listed()),
        "late": parts.add_table(stream.late_rows()),
        "bad": bad_rows_header(list(stream._bad._rows))["rows"],
        "kept": None if kept is None else _saved_kept(kept, parts),
    }


def _saved_kept(kept: KeptRows, parts: SavedParts) -> list[Any]:
    rows = [parts.add_table(each) for each in kept.rows.parts]
    return [kept.dropped_us, kept._looked_us, rows]


def load_stream(stream: DurableStream, saved: dict[str, Any], parts: SavedReader) -> None:
    """Back into a stream that was declared again."""
    for name in _OWN:
        setattr(stream, name, saved[name])
    for names, part, values in (
        (_REACHED, stream.completeness, saved["reached"]),
        (_RATE, stream._rate, saved["rate"]),
    ):
        for name, value in zip(names, values, strict=True):
            setattr(part, name, value)
    for name, value in saved["ledger"].items():
        setattr(stream._ledger, name, value)
    stream.news, stream._told = tuple(saved["news"][0]), frozenset(saved["news"][1])
    stream._times.add(parts.numbers(saved["times"]))
    late = parts.table(saved["late"])
    if late.num_rows:
        stream._late.append(late)
    stream._bad.add(bad_rows_of({"rows": saved["bad"]}))
    if stream.kept is not None:
        stream.kept.dropped_us, stream.kept._looked_us, tables = saved["kept"]
        for number in tables:
            stream.kept.rows.append(parts.table(number))
