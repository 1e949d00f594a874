"""Runs of a query that go on elsewhere in the middle, and the same undisturbed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from support.form_runners import Given
from support.runners import exactly
from support.sessions import give, session_of
from support.streams import Action
from windrow.embedded import EmbeddedQuery, EmbeddedSession

__all__ = ["all_of", "begun", "ended", "in_two_sessions", "joined", "told", "undisturbed"]


def begun(text: str, actions: Sequence[Action]) -> tuple[EmbeddedSession, EmbeddedQuery]:
    """A session with a query that has seen these."""
    session = session_of()
    query = session.query(text, name="q")
    for action in actions:
        give(session, action)
    return session, query


def ended(session: EmbeddedSession, query: EmbeddedQuery, actions: Sequence[Action]) -> Given:
    """What a query tells of these and of the end of all streams."""
    for action in actions:
        give(session, action)
    session.finish()
    return told(query)


def told(query: EmbeddedQuery) -> Given:
    """All that it has told since it was last asked."""
    return Given(query.answers(), query.changes(), query.result())


def undisturbed(text: str, actions: Sequence[Action]) -> Given:
    """All that a query tells in one session."""
    return ended(*begun(text, ()), actions)


def in_two_sessions(text: str, actions: Sequence[Action], cut: int, folder: Path) -> Given:
    """The same, with all after the first so many in a session that has the state from a file."""
    session, query = begun(text, actions[:cut])
    file = folder / f"{cut}.wstate"
    session.export_state("q", file)
    other = session_of()
    goes_on = other.import_state(file)
    first = told(query)
    assert exactly(goes_on.result()) == exactly(first.result)
    assert not goes_on.changes().num_rows
    return joined(first, ended(other, goes_on, actions[cut:]))


def joined(first: Given, second: Given) -> Given:
    """What two runs have told, one after the other."""
    answers = pa.concat_tables([first.answers, second.answers])
    return Given(answers, pa.concat_tables([first.changes, second.changes]), second.result)


def all_of(given: Given) -> list[list[str]]:
    """All that was told, exactly; answers and changes of one instant in any order."""
    answers, changes, result = map(exactly, given)
    return [sorted(answers), sorted(changes), sorted(result)]
