"""A durable session that is closed and opened again is as one that was never closed."""

from __future__ import annotations

from pathlib import Path

import pytest

import windrow
from support.durable_script import STEPS, observed, run, twice, undisturbed
from windrow.embedded.session import EmbeddedSession


def opened(path: Path, durability: str = "off") -> EmbeddedSession:
    session = windrow.connect(path=path, durability=durability)
    session.function("twice", twice, returns="double", takes="double")
    return session


def began(path: Path, steps: int, durability: str = "off") -> EmbeddedSession:
    session = windrow.connect(path=path, durability=durability)
    run(session, 0, steps)
    return session


@pytest.mark.parametrize("cut", range(1, len(STEPS) + 1, 7))
def test_it_goes_on_where_it_was(tmp_path: Path, cut: int) -> None:
    began(tmp_path, cut).stop()
    session = opened(tmp_path)
    run(session, cut, len(STEPS))
    found = observed(session)
    session.stop()
    assert found == undisturbed(len(STEPS))


def test_it_is_as_it_was_after_each_step(tmp_path: Path) -> None:
    for count in range(1, len(STEPS) + 1, 9):
        path = tmp_path / str(count)
        began(path, count).stop()
        session = opened(path)
        found = observed(session)
        session.stop()
        assert found == undisturbed(count)
