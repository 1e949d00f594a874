"""What waits for readers: a list of entries is the slow twin, and pushing costs no more for it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow import backlog
from windrow.backlog import FANOUT, Backlog
from windrow.output.change_limit import first_instants
from windrow.output.group_feed import GroupFeed
from windrow.output.row_log import RowLog
from windrow.output.selects.select_feed import SelectFeed
from windrow.output.whole_feed import WholeFeed
from windrow.windows.instants import WaitingInstants


@given(
    st.lists(st.tuples(st.integers(0, 4), st.floats(0, 1)), max_size=60),
    st.sampled_from([16, backlog.JOINED_BYTES]),
)
def test_a_backlog_is_a_list(steps: list[tuple[int, float]], joined_bytes: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backlog, "JOINED_BYTES", joined_bytes)
        held, told, read = Backlog(np.concatenate), 0, 0
        for size, share in steps:
            mark, before = held.mark(), listed(held, read)
            held.append(np.arange(told, told + size))
            held.undo(mark)
            assert listed(held, read) == before
            held.append(np.arange(told, told + size))
            told += size
            middle = read + int(share * (told - read))
            assert listed(held, read) == list(range(read, told))
            assert listed(held, read, middle) == list(range(read, middle))
            read = middle
            held.drop_before(read)
            assert (held.end, held.first <= read) == (told, True)
            assert held.nbytes == sum(part.nbytes for part in held.parts)
            # What was read goes: at most as much of it stays as there is to be read.
            assert read - held.first <= max(0, told - read)


def listed(held: Backlog[Any], first: int, end: int | None = None) -> list[int]:
    return [number for part in held.since(first, end) for number in part.tolist()]


def test_an_entry_is_copied_once_per_tier() -> None:
    copied = 0

    def join(parts: list[Any]) -> Any:
        nonlocal copied
        copied += sum(map(len, parts))
        return np.concatenate(parts)

    held = Backlog(join)
    for number in range(FANOUT**4):
        held.append(np.array([number]))
        assert len(held.parts) <= 4 * FANOUT
    assert copied == 4 * FANOUT**4


def test_instants_that_wait_are_in_few_runs() -> None:
    waiting = WaitingInstants()
    rng = np.random.default_rng(7)
    for _ in range(2_000):
        waiting.add(rng.integers(10_000, 20_000, 1))
        assert waiting.release(5_000).size == 0
    assert len(waiting._runs) <= 20
    assert waiting.release(20_000).size == 2_000


SCHEMA = pa.schema([("k", pa.int64()), ("x", pa.int64())])
FEEDS: dict[str, Callable[[], Any]] = {
    "whole": lambda: WholeFeed(SCHEMA, lambda states: pa.table({"x": states.count})),
    "groups": lambda: GroupFeed(RowLog(SCHEMA), lambda groups: groups),
    "select": lambda: SelectFeed(SCHEMA),
}
READERS: dict[str, Callable[[Any], object]] = {
    "nobody": lambda _: None,
    "answers": lambda feed: feed.answers(),
    "changes": lambda feed: feed.changes(),
    "some changes": lambda feed: feed.first_changes(first_instants(feed.unread_changes(), 1)),
    "result": lambda feed: feed.result(),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", FEEDS)
def test_a_step_costs_the_same_however_much_is_unread(
    kind: str, reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed, joined = FEEDS[kind](), 0

    def concatenate(parts: Any, *others: Any, **options: Any) -> Any:
        nonlocal joined
        out = np_concatenate(parts, *others, **options)
        joined += out.size
        return out

    np_concatenate = np.concatenate
    monkeypatch.setattr(np, "concatenate", concatenate)

    def cost(first: int, end: int) -> tuple[int, int]:
        """Lines run, and entries of arrays joined."""
        before = joined
        with Lines() as lines:
            for number in range(first, end):
                step(feed, number)
                READERS[reader](feed)
        return lines.count, joined - before

    costs = [cost(first, first + FANOUT**2) for first in range(0, 12 * FANOUT**2, FANOUT**2)]
    early, late = costs[1], costs[-1]
    assert late[0] <= 1.3 * early[0]
    assert late[1] <= 2 * early[1] + 3 * FANOUT**4


def step(feed: Any, number: int) -> None:
    """A row takes the place of the one before it."""
    at, group = np.array([number, number + 1]), np.array([number % 5, (number + 1) % 5], np.int32)
    many = np.array([1, 1])
    if isinstance(feed, SelectFeed):
        feed.record(at, group, group, np.array([0, 1]), lambda codes: rows(codes, number))
    elif isinstance(feed, GroupFeed):
        feed.record(at, group, many, rows(group, number))
    else:
        feed.record(at, group * 0, many, rows(group, number))
    feed.ask(at[1:])
    feed.trim()


def rows(codes: Any, number: int) -> pa.Table:
    values = [pa.array(codes, pa.int64()), pa.array([number] * len(codes), pa.int64())]
    return pa.Table.from_arrays(values, schema=SCHEMA)


class Lines:
    """Counts lines of ours that run, also where a loop calls nothing."""

    def __enter__(self) -> Lines:
        self.count, self._before = 0, sys.gettrace()
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _trace(self, frame: FrameType, event: str, _: object) -> Any:
        if "windrow" not in frame.f_code.co_filename:
            return None
        self.count += event == "line"
        return self._trace
