"""What a group of runs does for an event, as two functions that are written for it.

read() lets the rows that its streams have gathered wait, and says how far all streams are complete;
move(clock) lets rows enter and leave, and the cells of every run follow. Everything is written out:
a row takes some hundred nanoseconds, and a call of a function a tenth of that.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from windrow.compiling.written import written
from windrow.event_time import MAX_EVENT_TIME, MIN_EVENT_TIME
from windrow.events.cell_run import CellRun
from windrow.events.cell_text import CellNames, cell_lines, cell_maker
from windrow.events.event_window import EventWindow
from windrow.events.expression_text import Namespace
from windrow.events.giving_up import gives_up
from windrow.events.row_text import EventRow, entering, reading_lines, row_lines
from windrow.events.stream_feed import StreamFeed
from windrow.events.values import one_zero
from windrow.rows.gathered_rows import JoinedRow

__all__ = ["Mover", "Reader", "mover", "reader"]

Reader = Callable[[], int]
Mover = Callable[[int], None]

_ENTERS = itemgetter(0)


def reader(
    feeds: Sequence[StreamFeed], windows: Sequence[EventWindow], due: list[int] | None
) -> Reader:
    """Reads what was gathered; due: where the instants go at which rows enter."""
    namespace: Namespace = {"gives_up": gives_up, "wait_in_order": _wait_in_order, "due": due}
    namespace["JoinedRow"] = JoinedRow
    lines = ["def read():"]
    for number, feed in enumerate(feeds):
        namespace |= {f"gathered{number}": feed.gathered, f"at{number}": feed.position}
        own = [(i, each) for i, each in enumerate(windows) if each.entry.stream.name == feed.name]
        namespace |= {f"waiting{i}": window.waiting for i, window in own}
        lines += _feed_lines(number, feed, own, namespace, is_due=due is not None)
    lines.append("    clock = at0[1]")
    for number in range(1, len(feeds)):
        lines.append(f"    if at{number}[1] < clock: clock = at{number}[1]")
    lines.append("    return clock\n")
    read: Reader = written("\n".join(lines), "read", namespace)
    return read


def _feed_lines(
    number: int,
    feed: StreamFeed,
    windows: list[tuple[int, EventWindow]],
    namespace: Namespace,
    *,
    is_due: bool,
) -> Iterator[str]:
    """Rows of one push make none of it late; at: rows that were read, through, believed."""
    at, gathered = f"at{number}", f"gathered{number}"
    yield f"    rows = {gathered}.rows"
    yield "    count = len(rows)"
    yield f"    i = {at}[0]"
    yield "    if i != count:"
    yield f"        through = {at}[1]"
    yield "        while i < count:"
    yield "            row = rows[i]"
    yield "            i += 1"
    yield "            if type(row) is not JoinedRow:"
    yield f"                late = through - {feed.ties_us}"
    yield f"                if late < {MIN_EVENT_TIME}: late = {MIN_EVENT_TIME - 1}"
    yield f"            time = row[{feed.time_place}]"
    yield "            if time is not None and time > late:"
    yield f"                if time > {at}[2]:"
    yield f"                    if time < {MAX_EVENT_TIME}: gives_up('a time to be judged')"
    yield "                else:"
    yield f"                    is_last = time - {feed.ahead_us} >= through"
    yield f"                    if is_last: through = time - {feed.ahead_us}"
    for line in _windows_lines(number, windows, namespace, is_due=is_due):
        yield f"                    {line}"
    yield f"        {at}[0] = count"
    yield f"        {at}[1] = through"


def _windows_lines(
    number: int, windows: list[tuple[int, EventWindow]], namespace: Namespace, *, is_due: bool
) -> Iterator[str]:
    """A row of a stream comes to the windows over it."""
    filters = [each.entry.filter for _, each in windows if each.entry.filter is not None]
    parts = [column.part for _, each in windows for column in each.columns]
    stream = windows[0][1].entry.stream
    yield from reading_lines(stream, [*filters, *parts], namespace, f"_{number}")
    for i, window in windows:
        if is_due:
            yield f"due.append({entering(window.lifetime)})"
        waiting = f"waiting{i}"
        wait = (
            f"if is_last: {waiting}.append(p)",
            f"else: wait_in_order({waiting}, p)",
        )
        yield from row_lines(window.entry, window.lifetime, window.columns, namespace, wait)


def _wait_in_order(waiting: deque[EventRow], row: EventRow) -> None:
    waiting.insert(bisect_right(waiting, row[0], key=_ENTERS), row)


def mover(runs: Sequence[CellRun], windows: Sequence[EventWindow]) -> Mover:
    """Moves windows to a clock, and the cells of these runs with them."""
    namespace: dict[str, Any] = {"one_zero": one_zero}
    named = []
    for number, run in enumerate(runs):
        names = CellNames(str(number), tuple(run.places))
        state = (run.cells, run.totals, run.changed, cell_maker(run.layout))
        namespace |= zip(names.state, state, strict=True)
        named.append((run, names))
    enter, leave = list[str](), list[str]()
    for i, window in enumerate(windows):
        namespace |= {f"waiting{i}": window.waiting, f"live{i}": window.live}
        enter.append(f"        while waiting{i} and waiting{i}[0][0] <= clock:")
        enter.append(f"            p = waiting{i}.popleft()")
        enter += _changes(named, window, "+")
        enter.append(f"            live{i}.append(p)")
        leave.append(f"        edge = clock - {window.lifetime.hold_us}")
        leave.append(f"        while live{i} and live{i}[0][0] <= edge:")
        leave.append(f"            p = live{i}.popleft()")
        leave += _changes(named, window, "-")
    head = [f"def made({', '.join(sorted(namespace))}):", "    def move(clock):"]
    text = "\n".join([*head, *enter, *leave, "    return move\n"])
    move: Mover = written(text, "made", {})(**namespace)
    return move


def _changes(
    runs: list[tuple[CellRun, CellNames]], window: EventWindow, sign: str
) -> Iterator[str]:
    for run, names in runs:
        for number, each in enumerate(run.windows):
            if each is window:
                for line in cell_lines(run.layout, names, number, sign):
                    yield f"            {line}"
