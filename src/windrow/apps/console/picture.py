"""How a session stands, as values for JSON: one picture for all clients, taken when one looks."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from windrow.apps.console.followed import FollowedQuery
from windrow.apps.console.json_rows import plain_rows
from windrow.apps.console.meter import Meter
from windrow.apps.console.refusals import error_of
from windrow.apps.console.registry import Registry
from windrow.apps.console.turns import turns_of, width_at_us
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.runtime.ledger import LEDGER_COUNTS
from windrow.version import __version__
from windrow.windows.lifetime import Lifetime

__all__ = ["PICTURE_S", "Picture", "Pictures"]

# A picture serves all who ask within this time.
PICTURE_S = 0.2

Picture = Mapping[str, Any]
Followed = Mapping[FollowedQuery, Mapping[str, Any]]  # queries, and how each stands


class Pictures:
    """Takes pictures of a registry, at most one in PICTURE_S."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._started_us = _now_us()
        self._taking = threading.Lock()
        self._taken_at = 0.0
        self._last: Picture = {}
        self._meters: dict[str, tuple[Meter, int]] = {}

    def current(self) -> Picture:
        """The picture now, or the one that was just taken."""
        with self._taking:
            if not self._last or time.monotonic() - self._taken_at >= PICTURE_S:
                self._last = self._take()
                self._taken_at = time.monotonic()
            return self._last

    def fresh(self) -> Picture:
        """A picture of this moment, for one who has just changed something."""
        with self._taking:
            self._last = self._take()
            self._taken_at = time.monotonic()
            return self._last

    def _take(self) -> Picture:
        registry = self._registry
        with registry.runner.lock:
            streams = self._streams()
            asked = registry.table("queries").to_pylist()
            reach = {each["name"]: each for each in streams}
            followed = {each: registry.runner.standing(each.handle) for each in registry.queries()}
            queries = [self._query(*each, asked, reach) for each in followed.items()]
            return {
                "session": self._session(),
                "streams": streams,
                "queries": queries,
                "windows": self._windows(asked, followed),
                "batches": registry.runner.batches(),
                "operations": registry.runner.operations(),
                "views": registry.runner.views(),
            }

    def _session(self) -> dict[str, Any]:
        registry = self._registry
        return {
            "runner": registry.runner.kind,
            "version": __version__,
            "title": registry.title,
            "read_only": registry.is_read_only,
            "memory_bytes": registry.runner.session.memory,
            "bytes": registry.runner.nbytes,
            "started_us": self._started_us,
            "now_us": _now_us(),
            "error": None if registry.problem is None else error_of(registry.problem),
            "errors": registry.problems,
        }

    def _streams(self) -> list[dict[str, Any]]:
        registry = self._registry
        ledgers: dict[str, dict[str, int]] = {}
        for row in registry.table("ledger").to_pylist():
            stream = row.pop("stream")
            row.pop("query", None)
            # On Spark each query counts for itself: the one that is furthest speaks for all.
            if stream not in ledgers or row["rows_in"] > ledgers[stream]["rows_in"]:
                ledgers[stream] = row
        none = dict.fromkeys(LEDGER_COUNTS, 0)
        table = registry.table("streams")
        found = []
        for row, values in zip(table.to_pylist(), plain_rows(table), strict=True):
            ledger = ledgers.get(row["stream"], none)
            plain = dict(zip(table.column_names, values, strict=True))
            found.append(
                {
                    "name": row["stream"],
                    "columns": row["columns"],
                    "time": row["time"],
                    "lateness_us": plain["lateness"],
                    "watermark_us": plain["complete"],
                    "rate": self._rate(row["stream"], ledger["rows_in"]),
                    "ledger": ledger,
                }
            )
        return found

    def _rate(self, stream: str, rows_in: int) -> float:
        meter, before = self._meters.get(stream, (Meter(), rows_in))
        meter.add(rows_in - before)
        self._meters[stream] = (meter, rows_in)
        return meter.per_second

    def _query(
        self,
        query: FollowedQuery,
        standing: Mapping[str, Any],
        asked: list[dict[str, Any]],
        streams: Mapping[str, Mapping[str, Any]],
    ) -> dict[str, Any]:
        clock_us = _instant(standing["clock_us"])
        levels = [each["level"] for each in asked if each["query"] == query.name]
        return {
            "name": query.name,
            "text": query.text,
            "kind": query.kind,
            "streams": list(query.handle.plan.streams),
            "every_us": query.every_us,
            "state": query.state,
            "level": max(levels) if levels else query.last_level,
            "clock_us": clock_us,
            "lag_us": _lag_us(clock_us, [streams[name] for name in query.handle.plan.streams]),
            "answers": query.answers,
            "rate": query.rate,
            "bytes": standing["bytes"],
            "algorithm": standing["algorithm"],
            "columns": query.columns,
            "group_columns": query.group_columns,
            "feeds": query.feed_columns,
            "error": None if query.error is None else error_of(query.error),
        }

    def _windows(self, asked: list[dict[str, Any]], followed: Followed) -> dict[str, Any]:
        registry = self._registry
        aliases: dict[str, list[str]] = {}
        for row in asked:
            aliases.setdefault(row["window"], []).append(row["alias"])
        windows = []
        for row in registry.table("windows").to_pylist():
            alias = sorted(set(aliases.get(row["window"], [])))
            windows.append(
                {
                    "window": row["window"],
                    "stream": row["stream"],
                    "alias": ", ".join(alias) or None,
                    "queries": row["queries"],
                    "wanted_us": _span(row["wanted"]),
                    "least_us": _span(row["least"]),
                    "rows": row["rows"],
                    "bytes": row["bytes"],
                    "rate": row["rate"],
                    "level": row["level"],
                    **self._widths(row, followed),
                }
            )
        budget = registry.runner.session.memory
        return {"windows": windows, "budget_bytes": budget, "bytes": registry.runner.nbytes}

    def _widths(self, row: Mapping[str, Any], followed: Followed) -> dict[str, Any]:
        """How wide a window is, when, and the turns of the first of its readers that takes any."""
        narrow_us = _span(row["width"])
        readers = [each for each in followed if each.name in row["queries"]]
        clocks = [_instant(followed[each]["clock_us"]) for each in readers]
        at_us = max((each for each in clocks if each is not None), default=None)
        facts: dict[str, Any] = {"turns": [], "at_us": at_us}
        facts |= {"width_us": narrow_us, "narrow_us": narrow_us}
        for query, clock_us in zip(readers, clocks, strict=True):
            lifetime = self._turning(query, row["stream"])
            if lifetime is not None and clock_us is not None and narrow_us is not None:
                width_us = max(narrow_us, width_at_us(lifetime, clock_us))
                turns = turns_of(lifetime, clock_us)
                return {**facts, "width_us": width_us, "at_us": clock_us, "turns": turns}
        return facts

    def _turning(self, query: FollowedQuery, stream: str) -> Lifetime | None:
        """How long rows of a stream stay for a query that lets a window take turns."""
        if query.kind == "history":
            return None
        for position, entry in enumerate(query.handle.plan.inputs):
            if entry.stream.name == stream:
                lifetime = self._registry.runner.lifetime(query.handle, position)
                if lifetime is not None and lifetime.turn_growth_us:
                    return lifetime
        return None


def _lag_us(clock_us: int | None, streams: list[Mapping[str, Any]]) -> int | None:
    """How far a clock is behind the newest event of the streams that it waits for."""
    known = [each for each in streams if each["watermark_us"] is not None]
    if clock_us is None or not known:
        return None
    newest_us = max(each["watermark_us"] + each["lateness_us"] for each in known)
    return max(0, int(newest_us) - clock_us)


def _instant(instant_us: int | None) -> int | None:
    is_known = instant_us is not None and START_OF_TIME < instant_us < END_OF_TIME
    return instant_us if is_known else None


def _span(span: timedelta | None) -> int | None:
    return None if span is None else span // timedelta(microseconds=1)


def _now_us() -> int:
    return time.time_ns() // 1_000
