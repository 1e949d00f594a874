"""Wrong use, each line of which mypy must find: an ignore that nothing needs is an error."""

from __future__ import annotations

import windrow


def wrong(session: windrow.Session) -> None:
    windrow.connect(checkpoint="there")  # type: ignore[call-overload]
    windrow.connect(memory=1.5)  # type: ignore[call-overload]
    here = windrow.connect()
    here.stream("s", "ts timestamp", when="ts")  # type: ignore[call-arg]
    here.push("s", 5)  # type: ignore[arg-type]
    here.push("s", [1, 2])  # type: ignore[list-item]
    here.advance("s", "2026-01-01")  # type: ignore[call-arg]
    here.advance("s", to=1.5)  # type: ignore[arg-type]
    here.start({})  # type: ignore[attr-defined]
    query = here.query("SELECT COUNT(*) AS n FROM s")
    query.result(to="panda")  # type: ignore[call-overload]
    query.answers(10)  # type: ignore[call-overload]
    query.changes("all")  # type: ignore[call-overload]
    query.await_end()  # type: ignore[union-attr]
    query.chart(n=5)  # type: ignore[call-arg]
    query.chart(value=5)  # type: ignore[arg-type]
    session.push("s", [])  # type: ignore[attr-defined]
    len(here.ask("SELECT 1", progressive=True))  # type: ignore[arg-type]
    windrow.sinks.parquet(5)  # type: ignore[arg-type]
