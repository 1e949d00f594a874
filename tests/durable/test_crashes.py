"""A session that dies at any write, sync or change of a name is, opened again, as its log says."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import windrow
from support.durable_script import SEVERAL_CALLS, STEPS, at, observed, run, twice, undisturbed
from support.memory_folder import KilledError, MemoryFolder
from windrow.durable.opening import open_folder
from windrow.durable.session import DurableSession
from windrow.durable.settings import Settings

after = cache(undisturbed)


def opened(folder: MemoryFolder, durability: str) -> DurableSession:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return open_folder(folder, Settings(), durability)


def died_at(folder: MemoryFolder, durability: str) -> int:
    """Run the steps until the folder ends the process; how many were done."""
    done = 0
    try:
        session = opened(folder, durability)
        for done in range(len(STEPS)):
            run(session, done, done + 1)
        done = len(STEPS)
        session.stop()
    except KilledError:
        pass
    return done


def found_in(folder: MemoryFolder) -> tuple[dict[str, Any], DurableSession]:
    session = opened(folder, "off")
    if session.is_waiting:
        session.function("twice", twice, returns="double", takes="double")
    return observed(session), session


@pytest.mark.parametrize("apart", [37, pytest.param(1, marks=pytest.mark.slow)])
def test_a_process_may_end_at_any_call_of_the_disk(apart: int) -> None:
    for dies_at in count(1, apart):
        folder = MemoryFolder(dies_at)
        done = died_at(folder, "always")
        if not folder.is_dead:
            break
        for left in (folder.after_kill(), folder.after_power_cut()):
            found = found_in(left)[0]
            # The step in which it died may be in the log as a whole, or in part.
            assert found == after(done) or found == after(done + 1) or is_between(found, done)
    assert dies_at > 100


def is_between(found: dict[str, Any], done: int) -> bool:
    """Whether a step of several calls was done in part."""
    return done in SEVERAL_CALLS and set(found) <= set(after(done + 1))


def test_what_was_done_when_it_returned_is_there_after_a_power_cut() -> None:
    folder = MemoryFolder()
    session = opened(folder, "always")
    for number in range(len(STEPS)):
        run(session, number, number + 1)
        if number % 8 == 7:
            assert found_in(folder.after_power_cut())[0] == after(number + 1)
    session.stop()


@pytest.mark.parametrize("apart", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_a_torn_record_is_cut_wherever_it_was_torn(apart: int) -> None:
    folder = MemoryFolder()
    session = opened(folder, "off")
    session.stream("s", "ts timestamp, x int", time="ts")
    session.query("SELECT SUM(x) AS x FROM s [1 MINUTE]", name="sum")
    session.push("s", {"ts": at(1), "x": 1})
    before = session["sum"].result().to_pylist()
    whole = len(next(iter(folder.files.values())))
    session.advance("s", to=at(30))
    (name,) = folder.files
    for size in range(whole + 1, len(folder.files[name]), apart):
        left = folder.after_kill()
        del left.files[name][size:]
        with pytest.warns(windrow.WindrowWarning, match=f"{size - whole:,} bytes"):
            again = open_folder(left, Settings(), "off")
        assert again["sum"].result().to_pylist() == before
        assert len(left.files[name]) == whole
        again.advance("s", to=at(40))
        assert opened(left.after_kill(), "off")["sum"].clock == at(40)


@pytest.mark.parametrize("apart", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_every_damaged_byte_of_what_is_safe_is_seen(apart: int) -> None:
    folder = MemoryFolder()
    session = opened(folder, "always")
    session.stream("s", "ts timestamp, x int", time="ts")
    session.push("s", {"ts": at(1), "x": 1})
    session.advance("s", to=at(30))
    session.stop()
    (name,) = folder.files
    data = folder.files[name]
    last = data.rindex(b'{"kind":"advance"') - 32
    for place in range(0, last, apart):
        left = folder.after_kill()
        left.files[name][place] ^= 0x41
        with pytest.raises(windrow.WindrowError) as problem:
            opened(left, "off")
        assert problem.value.code in ("WC404", "WC405")


def test_a_log_file_that_is_missing_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windrow.durable.log.FILE_BYTES", 400)
    folder = MemoryFolder()
    session = opened(folder, "always")
    session.stream("s", "ts timestamp, x int", time="ts")
    for second in range(9):
        session.advance("s", to=at(second))
    session.stop()
    names = folder.names()
    assert len(names) > 3
    assert opened(folder.after_kill(), "off").streams()["complete"][0].value == at(8)
    for name in names[:-1]:
        left = folder.after_kill()
        del left.files[name]
        with pytest.raises(windrow.CheckpointError) as problem:
            opened(left, "off")
        assert problem.value.code == "WC405"


@pytest.mark.parametrize("durability", ["always", "off"])
def test_a_full_disk_changes_nothing(durability: str) -> None:
    folder = MemoryFolder()
    session = opened(folder, durability)
    session.stream("s", "ts timestamp, x int", time="ts")
    total = session.query("SELECT SUM(x) AS x FROM s [1 MINUTE]", name="sum")
    session.push("s", {"ts": at(1), "x": 1})
    assert total.result().to_pylist() == [{"x": None}]
    folder.failing = OSError(28, "No space left on device")
    with pytest.raises(windrow.CheckpointError, match="disk is full") as problem:
        session.advance("s", to=at(5))
    assert problem.value.code == "WC407"
    if durability == "always":
        with pytest.raises(windrow.CheckpointError):
            session.push("s", {"ts": at(2), "x": 100})
    folder.failing = None
    assert total.result().to_pylist() == [{"x": None}]
    session.push("s", {"ts": at(3), "x": 2})
    session.advance("s", to=at(9))
    assert total.result().to_pylist() == [{"x": 3}]
    assert opened(folder.after_kill(), "off")["sum"].result().to_pylist() == [{"x": 3}]


def test_a_call_that_is_interrupted_ends_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = MemoryFolder()
    session = opened(folder, "off")
    session.stream("s", "ts timestamp, x int", time="ts")
    query = session.query("SELECT SUM(x) AS x FROM s [1 MINUTE]", name="sum")
    session.push("s", {"ts": at(1), "x": 1})

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(type(query), "apply", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.advance("s", to=at(5))
    for call in (query.result, session.ledger, lambda: session["sum"], query.answers):
        with pytest.raises(windrow.CheckpointError, match="open it again") as problem:
            call()
        assert problem.value.code == "WC408"
    session.stop()
    again = opened(folder.after_kill(), "off")
    again.advance("s", to=at(5))
    assert again["sum"].result().to_pylist() == [{"x": 1}]


def test_a_failed_sync_ends_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = MemoryFolder()
    session = opened(folder, "always")
    session.stream("s", "ts timestamp, x int", time="ts")

    def failed(_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("support.memory_folder.MemoryFile.sync", failed)
    with pytest.raises(windrow.CheckpointError, match="could not be synced"):
        session.advance("s", to=at(5))
    with pytest.raises(windrow.CheckpointError) as problem:
        session.streams()
    assert problem.value.code == "WC408"
    session.stop()


def test_kill_9_in_the_middle_of_pushes(tmp_path: Path) -> None:
    program = (
        "import windrow, itertools, sys\n"
        f"s = windrow.connect(path={str(tmp_path / 'state')!r}, durability='always')\n"
        "s.stream('s', 'ts timestamp, x int', time='ts')\n"
        "s.query('SELECT COUNT(*) AS n, SUM(x) AS x FROM s [1 HOUR]', name='q')\n"
        "for i in itertools.count():\n"
        f"    s.push('s', {{'ts': {at(0)} + i, 'x': i}})\n"
        "    print(i, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        for _ in range(20):
            told = int(running.stdout.readline())
        os.kill(running.pid, signal.SIGKILL)
        told += running.stdout.read().count(b"\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", windrow.WindrowWarning)
        session = windrow.connect(path=tmp_path / "state")
    session.finish()
    (row,) = session["q"].result().to_pylist()
    assert row["n"] in (told + 1, told + 2)
    assert row["x"] == sum(range(row["n"]))
    session.stop()


@pytest.mark.parametrize("left", [b"", b"\0" * 24, b"\x21" * 24, b"\0" * 11, b"\x21" * 2511])
def test_a_file_of_which_only_a_damaged_head_is_there_is_removed(left: bytes) -> None:
    folder = MemoryFolder()
    session = opened(folder, "always")
    session.stream("s", "ts timestamp, x int", time="ts")
    session.advance("s", to=at(5))
    session.stop()
    (name,) = folder.files
    number = session.journal.log.sequence + 1
    begun = folder.after_kill()
    begun.files[name.replace(f"{1:020}", f"{number:020}")] = bytearray(left)
    again = opened(begun, "off")
    assert again.streams()["complete"][0].value == at(5)
    again.advance("s", to=at(9))
    assert opened(begun.after_kill(), "off").streams()["complete"][0].value == at(9)
