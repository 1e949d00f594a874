"""Functions that raise, are interrupted, push, register and stop: each is told all, and once."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable

import pytest

import windrow
from support.event_streams import SECOND, START
from windrow.embedded import EmbeddedSession
from windrow.events.answer import Answer
from windrow.events.subscriptions import Change


def counting(
    text: str = "SELECT COUNT(*) AS n, SUM(x) AS x FROM s [10 SECONDS]",
) -> tuple[EmbeddedSession, windrow.Query]:
    session = windrow.connect(clock="arrival")
    session.stream("s", "ts timestamp, x int", time="ts")
    return session, session.query(text)


def push(session: EmbeddedSession, second: int, x: int = 1) -> None:
    session.push("s", (START + second * SECOND, x))


class Adding:
    """The rows of a query by its changes alone."""

    def __init__(self, query: windrow.Query) -> None:
        self.query = query
        self.rows = Counter(map(repr, query.latest()))
        self.subscription = query.on_change(self.add)

    def add(self, change: Change) -> None:
        self.rows[repr(change.row)] += change.change

    def check(self) -> None:
        assert +self.rows == Counter(map(repr, self.query.result().to_pylist()))


@pytest.mark.parametrize("problem", [KeyboardInterrupt, MemoryError, ZeroDivisionError])
def test_what_a_function_breaks_off_goes_on_with_the_next_push(
    problem: type[BaseException],
) -> None:
    session, query = counting("SELECT x, COUNT(*) AS n FROM s [10 SECONDS] GROUP BY x")
    adding, heard = Adding(query), list[int]()

    def breaks_off(change: Change) -> None:
        heard.append(change.change)
        if len(heard) in (2, 5, 9):
            raise problem

    query.on_change(breaks_off)
    last, raised = Adding(query), 0
    for second in (0, 1, 2, 3, 4, 5, 30, 31):
        try:
            push(session, second, second % 2)
        except problem:
            raised += 1
    push(session, 60)
    for each in (adding, last):
        each.check()
    assert raised == (3 if problem is not ZeroDivisionError else raised) > 0
    assert sum(heard) == sum(last.rows.values())


def test_a_function_that_is_interrupted_is_not_called_again() -> None:
    session, query = counting()
    first, second, raised = list[int](), list[int](), list[int]()

    def interrupted(answer: Answer) -> None:
        first.append(answer[0]["n"])
        if answer[0]["n"] == 2:
            raise KeyboardInterrupt

    query.on_answer(interrupted)
    query.on_answer(lambda answer: second.append(answer[0]["n"]))
    for number in range(4):
        try:
            push(session, number)
        except KeyboardInterrupt:
            raised.append(number)
            assert (first, second) == ([1, 2], [1])
            assert session.ledger()["rows_in"].to_pylist() == [2]
    assert raised == [1]
    assert first == second == [1, 2, 3, 4]


def test_a_failed_query_ends_what_follows_it_and_nothing_else() -> None:
    session, query = counting("SELECT 6 DIV x AS y FROM s [1 MINUTE]")
    other = session.query("SELECT COUNT(*) AS n FROM s [1 MINUTE]")
    heard, counts = list[Answer](), list[int]()
    query.on_answer(heard.append)
    other.on_answer(lambda answer: counts.append(answer[0]["n"]))
    push(session, 0)
    with pytest.warns(RuntimeWarning, match="has stopped"), pytest.raises(windrow.DataError) as why:
        push(session, 1, 0)
    assert why.value.code == "WD304"
    push(session, 2)
    assert (len(heard), counts) == (1, [1, 2, 3])


def test_a_function_may_register_subscribe_and_stop() -> None:
    session, query = counting()
    made, heard = list[Adding](), list[int]()

    def registers(answer: Answer) -> None:
        heard.append(answer[0]["n"])
        if len(made) < 2:
            text = f"SELECT COUNT(*) AS n, MAX(x) AS m FROM s [{5 + len(made)} SECONDS]"
            made.append(Adding(session.query(text)))
            made.append(Adding(query))
        if len(heard) == 5:
            query.stop()

    query.on_answer(registers)
    for second in range(8):
        push(session, second, second)
        for each in made:
            each.check()
    assert heard == [1, 2, 3, 4, 5]


def test_who_subscribes_while_others_are_told_has_what_comes_after() -> None:
    session, query = counting("SELECT x FROM s [10 SECONDS]")
    adding = list[Adding]()

    def subscribes(_: Change) -> None:
        adding.append(Adding(query))

    for second in range(5):
        push(session, second, second)
    query.on_change(subscribes)
    session.advance("s", to=START + 12 * SECOND)
    assert len(adding) == 2
    push(session, 13)
    for each in adding:
        each.check()


@pytest.mark.parametrize("end", ["stop", "close"])
def test_functions_that_end_each_other_are_called_no_more(end: str) -> None:
    session, query = counting("SELECT x FROM s [10 SECONDS]")
    heard = list[int]()

    def ends(change: Change) -> None:
        heard.append(change.change)
        query.stop() if end == "stop" else other.close()

    query.on_change(ends)
    other = query.on_change(heard.append)  # type: ignore[arg-type]
    push(session, 0)
    assert heard[0] == 1
    assert len(heard) == (2 if end == "stop" else 1)  # what came before it was stopped is told


def tasks_of(query: windrow.Query) -> Callable[[], asyncio.Task[list[int]]]:
    async def read() -> list[int]:
        return [answer[0]["n"] async for answer in query]

    return lambda: asyncio.create_task(read())


def test_a_task_ends_when_the_query_is_stopped() -> None:
    session, query = counting()

    async def main() -> list[int]:
        task = tasks_of(query)()
        await asyncio.sleep(0)
        push(session, 0)
        query.stop()
        return await asyncio.wait_for(task, 30)

    assert asyncio.run(main()) == [1]


def test_a_task_learns_why_the_query_has_failed() -> None:
    session, query = counting("SELECT COUNT(*) AS n FROM s [1 MINUTE] WHERE 6 DIV x > 0")

    async def main() -> None:
        task = tasks_of(query)()
        await asyncio.sleep(0)
        push(session, 0)
        with pytest.warns(RuntimeWarning), pytest.raises(windrow.DataError):
            push(session, 1, 0)
        with pytest.raises(windrow.DataError, match="has stopped"):
            await asyncio.wait_for(task, 30)

    asyncio.run(main())


def test_a_cancelled_task_loses_no_answer() -> None:
    session, query = counting()

    async def main() -> list[int]:
        answers = aiter(query)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(answers), 0.01)
        waits = asyncio.ensure_future(anext(answers))
        await asyncio.sleep(0)
        push(session, 0)
        waits.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waits
        thread = threading.Thread(target=lambda: (push(session, 1), session.finish()))
        thread.start()
        found = [answer[0]["n"] async for answer in answers]
        thread.join()
        return found

    assert asyncio.run(main()) == [1, 2]
