"""Generated calls: a session that is saved, closed and opened again agrees with a plain one."""

from __future__ import annotations

import warnings
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from support.durable_script import at
from support.memory_folder import MemoryFolder
from windrow.durable.opening import open_folder
from windrow.durable.session import DurableSession
from windrow.durable.settings import Settings
from windrow.embedded.session import EmbeddedSession

TEXTS = {
    "sums": "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM a [7 SECONDS] GROUP BY k",
    "joined": "SELECT COUNT(*) AS n FROM a [5 SECONDS], b [5 SECONDS] WHERE a.k = b.k",
    "most": "SELECT MAX(v) AS v, MIN(v) AS w FROM a [6 SECONDS] EVERY (2 SECONDS)",
    "rows": "SELECT k, v FROM a [4 SECONDS] WHERE v > 1",
    "few": "SELECT DISTINCT k FROM b [ROWS 3]",
    "all": "SELECT k, AVG(v) AS v FROM a GROUP BY k",
    "none": "SELECT a.k FROM a [5 SECONDS] LEFT ANTI JOIN b [5 SECONDS] ON a.k = b.k",
    "tops": "SELECT k, v FROM a [9 SECONDS] ORDER BY v DESC, k LIMIT 2",
    "about": "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM a [6 SECONDS] GROUP BY k ERROR (10%)",
    "viewed": "SELECT SUM(n) AS n, MAX(n) AS m FROM busy",
    "busiest": "SELECT b.k, q.n FROM b [3 SECONDS], quiet q WHERE b.k = q.k EVERY (2 SECONDS)",
    "past": "SELECT k, SUM(v) AS s FROM HISTORY(a) [FROM '2026-01-01' TO NOW] GROUP BY k",
    "ticks": "SELECT COUNT(*) AS n FROM HISTORY(a) [FROM '2026-01-01' TO NOW] EVERY (3 SECONDS)",
}
values = st.sampled_from([None, 0.5, 2.0, -1.0, float("nan"), float("inf"), 1e16])
rows = st.tuples(st.integers(0, 40), st.sampled_from([1, 2, None]), values)
calls = st.one_of(
    st.tuples(st.just("push"), rows),
    st.tuples(st.just("list"), st.lists(rows, max_size=5)),
    st.tuples(st.just("columns"), st.lists(rows, min_size=20, max_size=30)),
    st.tuples(st.just("b"), st.integers(0, 40)),
    st.tuples(st.just("advance"), st.integers(0, 40)),
    st.tuples(st.just("read"), st.sampled_from(sorted(TEXTS))),
    st.tuples(st.just("changes"), st.sampled_from(sorted(TEXTS))),
    st.tuples(st.just("save"), st.none()),
    st.tuples(st.just("reopen"), st.none()),
)


def begun(session: EmbeddedSession, is_by_arrival: bool) -> EmbeddedSession:
    lateness = 0 if is_by_arrival else "3 seconds"
    session.stream("a", "ts timestamp, k int, v double", time="ts", lateness=lateness)
    session.stream("b", "ts timestamp, k int", time="ts")
    session.view("busy", "SELECT k, COUNT(*) AS n FROM a [8 SECONDS] GROUP BY k")
    session.view("quiet", "SELECT k, n FROM busy WHERE n < 3")
    levels = [("1 second", "5 seconds"), ("5 seconds", "10 seconds")]
    session.history("a", measures=["v"], by=["k"], levels=levels)
    for name, text in TEXTS.items():
        session.query(text, name=name)
    return session


def done(session: EmbeddedSession, call: str, given: Any) -> list[Any]:
    """Do it; what was read."""
    if call == "push":
        session.push("a", (at(given[0]), *given[1:]))
    elif call == "list":
        session.push("a", [{"ts": at(s), "k": k, "v": v} for s, k, v in given])
    elif call == "columns":
        seconds, keys, numbers = zip(*given, strict=True)
        session.push("a", {"ts": [at(s) for s in seconds], "k": [*keys], "v": [*numbers]})
    elif call == "b":
        session.push("b", (at(given), given % 3))
    elif call == "advance":
        session.advance("a", to=at(given))
    elif call == "read":
        return [repr(session[given].answers().to_pylist())]
    elif call == "changes":
        return [repr(session[given].changes(limit=3).to_pylist())]
    return []


def seen(session: EmbeddedSession) -> list[str]:
    session.finish()
    found = [repr(session.ledger().to_pylist()), repr(session.late("a").to_pylist())]
    for name in TEXTS:
        query = session[name]
        tables = query.result(), query.answers(), query.changes()
        found += [repr(table.to_pylist()) for table in tables]
    return found


@settings(max_examples=10)
@given(st.booleans(), st.lists(calls, max_size=25))
def test_it_agrees_with_a_session_in_memory(
    is_by_arrival: bool, script: list[tuple[str, Any]]
) -> None:
    clock = "arrival" if is_by_arrival else "complete"
    folder = MemoryFolder()

    def opened() -> DurableSession:
        return open_folder(folder, Settings(clock=clock), "off")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = begun(windrow.connect(clock=clock), is_by_arrival)
        durable = opened()
        begun(durable, is_by_arrival)
        for call, told in script:
            if call == "reopen":
                durable.stop()
                folder = folder.after_kill()
                durable = opened()
            elif call == "save":
                durable.streams()
                assert durable.save()
            else:
                assert done(plain, call, told) == done(durable, call, told)
        assert seen(plain) == seen(durable)
