"""States that earlier versions have written can be opened, and go on, for ever.

`python -m durable.test_stored_states` in tests/ writes those of the present formats that are not
there: do so when a format changes, and leave the others as they are.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import windrow
from support.durable_script import (
    ONCE_SAVED_STEPS,
    STEPS,
    Step,
    observed,
    run,
    twice,
    undisturbed,
    without_many,
)
from windrow.durable.log_files import FORMAT_VERSION
from windrow.durable.snapshots import SNAPSHOT_VERSION

STORED = Path(__file__).parent / "stored_states"
SAVED_AT, STOPPED_AT = 19, 26
# Of each folder what was done: snapshots have versions of their own, those before the fourth none.
WRITTEN = {"log": without_many(STEPS), f"snapshot-{SNAPSHOT_VERSION}": without_many(STEPS)}
SCRIPTS = {**WRITTEN, "snapshot": without_many(ONCE_SAVED_STEPS)}


@pytest.mark.parametrize("folder", sorted(STORED.glob("format-*/*")), ids=str)
def test_a_stored_state_goes_on(folder: Path, tmp_path: Path) -> None:
    steps = SCRIPTS[folder.name]
    shutil.copytree(folder, tmp_path / "state")
    session = windrow.connect(path=tmp_path / "state")
    session.function("twice", twice, returns="double", takes="double")
    run(session, STOPPED_AT, len(steps), steps)
    found, wanted = observed(session), undisturbed(len(steps), steps)
    session.stop()
    if folder.name == "snapshot" and folder.parent.name == "format-1":
        del found["windows"], wanted["windows"]  # rows that were shared were each query's own
    assert found == wanted


def test_there_are_some() -> None:
    found = {str(folder.relative_to(STORED)) for folder in STORED.glob("format-*/*")}
    logs = {f"format-{version}/log" for version in range(1, FORMAT_VERSION + 1)}
    snapshots = {"format-1/snapshot", "format-2/snapshot", "format-2/snapshot-4"}
    assert found == logs | snapshots
    assert f"format-{FORMAT_VERSION}/snapshot-{SNAPSHOT_VERSION}" in found


def write_states(folder: Path) -> None:
    """The states of the present formats."""
    for name, steps in WRITTEN.items():
        if not (folder / name).exists():
            _write_state(folder / name, steps, is_saved=name != "log")


def _write_state(folder: Path, steps: list[Step], *, is_saved: bool) -> None:
    session = windrow.connect(path=folder, durability="always")
    run(session, 0, SAVED_AT, steps)
    session.streams()
    assert not is_saved or session.save()  # type: ignore[attr-defined]
    run(session, SAVED_AT, STOPPED_AT, steps)
    session.stop()
    (folder / "lock").unlink()
    if is_saved:  # what an older snapshot would need is of no use here
        min(folder.glob("log-*")).unlink()


if __name__ == "__main__":
    write_states(STORED / f"format-{FORMAT_VERSION}")
