"""Something breaks off pushes and reads at any line: what is taken counts, and nothing else."""

from __future__ import annotations

import warnings

from hypothesis import given, settings
from hypothesis import strategies as st

from support.event_streams import (
    SECOND,
    START,
    EventStep,
    actions,
    do,
    few_forms,
    session_with,
    shown,
)
from support.faults import fails_at
from windrow.embedded import EmbeddedSession

# Of every step: the place of its push and its reads at which it is broken off, if at one, and how.
breaks = st.lists(
    st.tuples(st.sampled_from([None, None, None]) | st.integers(0, 700), st.booleans()),
    min_size=28,
    max_size=28,
)


def taken(session: EmbeddedSession) -> list[int]:
    return session.ledger()["rows_in"].to_pylist()


@settings(max_examples=15)
@given(
    steps=actions, chosen=few_forms, clock=st.sampled_from(["complete", "arrival"]), broken=breaks
)
def test_latest_is_right_after_any_exception(
    steps: list[EventStep], chosen: list[str], clock: str, broken: list[tuple[int | None, bool]]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session, queries = session_with(clock, chosen)
        other, slow = session_with(clock, chosen)
        at = START
        for (move, stream, kind, row, _), (place, is_memory) in zip(steps, broken, strict=False):
            at += move * SECOND
            step = kind, stream, {"ts": at, **row}

            def event(step: tuple[str, str, dict[str, object]] = step) -> None:
                do(session, *step)
                for query in queries.values():
                    query.latest()

            where = ""
            if place is None or kind == "advance":  # of which no ledger says whether it was made
                event()
                do(other, *step)
            else:
                before = taken(session)
                for query in queries.values():
                    query.latest()
                problem = MemoryError() if is_memory else KeyboardInterrupt()
                where = fails_at(event, place, problem)
                for query in queries.values():
                    query.latest()
                if taken(session) != before:
                    do(other, *step)
            for name, query in queries.items():
                wanted = slow[name].result().to_pylist()
                assert shown(query.latest()) == shown(wanted), (name, where)
