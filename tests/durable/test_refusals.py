"""What a durable session refuses, each with its code and a hint."""

from __future__ import annotations

import errno
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import windrow
from support.memory_folder import MemoryFolder
from windrow.durable.folder import StateFolder
from windrow.durable.log_files import FORMAT_VERSION, file_head
from windrow.durable.opening import open_folder
from windrow.durable.records import record_pieces
from windrow.durable.settings import Settings
from windrow.embedded.session import EmbeddedSession

TEXT = "SELECT SUM(x) AS x FROM s [1 MINUTE]"


def begun(path: Path) -> EmbeddedSession:
    session = windrow.connect(path=path, memory="64 MB")
    session.stream("s", "ts timestamp, x int", time="ts")
    session.table("t", "k int, v int", key="k")
    session.view("w", "SELECT x FROM s [5 SECONDS]")
    session.history("s", measures=["x"], levels=[("1 second", "1 hour")])
    session.query(TEXT, name="q")
    return session


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(windrow.WindrowError) as refused:
        call()
    assert refused.value.hint
    return refused.value.code


LEVELS = [("1 second", "2 hours")]
DECLARED: list[tuple[str, Callable[[Any], object]]] = [
    ("stream 's'", lambda s: s.stream("s", "ts timestamp, x bigint", time="ts")),
    ("table 't'", lambda s: s.table("t", "k int, v string", key="k")),
    ("view 'w'", lambda s: s.view("w", "SELECT x FROM s [6 SECONDS]")),
    ("history 's'", lambda s: s.history("s", measures=["x"], levels=LEVELS)),
    ("query 'q'", lambda s: s.query(TEXT.replace("SUM", "MAX"), name="q")),
    ("query", lambda s: s.query(TEXT, name="q", algorithm="pipelined")),
]


@pytest.mark.parametrize(("kind", "call"), DECLARED)
def test_a_name_has_one_meaning(
    tmp_path: Path, kind: str, call: Callable[[EmbeddedSession], object]
) -> None:
    begun(tmp_path).stop()
    session = windrow.connect(path=tmp_path)
    with pytest.raises(windrow.CheckpointError, match=f"has a {kind}") as refused:
        call(session)
    assert (refused.value.code, bool(refused.value.hint)) == ("WC410", True)
    assert session["q"].is_running
    session.stop()


def test_declared_again_nothing_changes(tmp_path: Path) -> None:
    begun(tmp_path).stop()
    size = sum(file.stat().st_size for file in tmp_path.iterdir())
    session = begun(tmp_path)
    assert session.query(TEXT.lower().replace("select", "SELECT "), name="q") is session["q"]
    session.stop()
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) == size


def test_a_query_that_was_stopped_makes_room_for_another(tmp_path: Path) -> None:
    session = begun(tmp_path)
    session["q"].stop()
    session.query(TEXT.replace("SUM", "MAX"), name="q")
    session.stop()
    session = windrow.connect(path=tmp_path)
    assert "MAX" in session["q"].text
    session.stop()


def test_settings_stay(tmp_path: Path) -> None:
    begun(tmp_path).stop()
    given: dict[str, str]
    for given in (
        {"clock": "arrival"}, {"time_zone": "Europe/Berlin"}, {"double_quotes": "name"},
    ):  # fmt: skip
        assert code_of(lambda given=given: windrow.connect(path=tmp_path, **given)) == "WC409"
    session = windrow.connect(path=tmp_path, memory=64 << 20)
    assert session.memory == 64 << 20
    session.stop()


def test_one_session_at_a_time(tmp_path: Path) -> None:
    session = begun(tmp_path)
    assert code_of(lambda: windrow.connect(path=tmp_path)) == "WC402"
    program = f"import windrow; windrow.connect(path={str(tmp_path)!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "WC402" in done.stderr
    session.stop()
    windrow.connect(path=tmp_path).stop()


def test_a_full_disk_keeps_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(tmp_path).stop()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "ftruncate", full)
        windrow.connect(path=tmp_path).stop()
    with monkeypatch.context() as patched:
        patched.setattr(StateFolder, "open", full)
        assert code_of(lambda: windrow.connect(path=tmp_path)) == "WC407"
    windrow.connect(path=tmp_path).stop()


def test_a_folder_of_others_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert code_of(lambda: windrow.connect(path=tmp_path)) == "WC403"
    assert code_of(lambda: windrow.connect(path=tmp_path / "notes.txt")) == "WC401"


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    begun(tmp_path).stop()
    (file,) = tmp_path.glob("log-*")
    data = bytearray(file.read_bytes())
    data[8:12] = struct.pack("<I", FORMAT_VERSION + 1)
    data[:24] = file_head(1, FORMAT_VERSION + 1)
    file.write_bytes(data)
    assert code_of(lambda: windrow.connect(path=tmp_path)) == "WC404"


def test_a_record_that_cannot_be_replayed_is_named() -> None:
    folder = MemoryFolder()
    records = [{"kind": "settings", **Settings().told()}, {"kind": "what", "wall": 0}]
    written = [
        b"".join(map(bytes, record_pieces(number, 0, header)))
        for number, header in enumerate(records, 1)
    ]
    records[0]["wall"] = 0
    written[0] = b"".join(map(bytes, record_pieces(1, 0, records[0])))
    folder.files["log-00000000000000000001.wlog"] = bytearray(file_head(1) + b"".join(written))
    assert code_of(lambda: open_folder(folder, Settings(), "off")) == "WC412"


def test_functions_are_given_again(tmp_path: Path) -> None:
    session = windrow.connect(path=tmp_path)
    session.stream("s", "ts timestamp, x int", time="ts")
    session.function("twice", lambda x: 2 * x, returns="bigint", takes="int")
    session.query("SELECT SUM(twice(x)) AS x FROM s [1 MINUTE]", name="q")
    session.push("s", {"ts": "2026-01-01", "x": 4})
    session.stop()
    session = windrow.connect(path=tmp_path)
    for call in (lambda: session["q"], session.ledger, session.finish, lambda: session.query(TEXT)):
        assert code_of(call) == "WC411"
    other = {"returns": "double", "takes": "int"}
    assert code_of(lambda: session.function("twice", lambda x: 2.0 * x, **other)) == "WC411"
    session.function("more", lambda x: x + 1, returns="bigint")
    session.function("twice", lambda x: 2 * x, returns="bigint", takes="int")
    session.finish()
    assert session["q"].result().to_pylist() == [{"x": 8}]
    session.stop()
    assert code_of(lambda: windrow.connect(path=tmp_path).ledger()) == "WC411"


def test_what_does_not_go_together() -> None:
    assert code_of(lambda: windrow.connect(object(), path="state")) == "WU309"  # type: ignore[call-overload]


def test_there_are_three_durabilities(tmp_path: Path) -> None:
    assert code_of(lambda: windrow.connect(path=tmp_path, durability="allways")) == "WB760"


def test_a_history_has_no_archive(tmp_path: Path) -> None:
    session = windrow.connect(path=tmp_path / "state")
    session.stream("s", "ts timestamp, x int", time="ts")
    levels = [("1 second", "1 hour")]
    archive = tmp_path / "archive"
    assert (
        code_of(lambda: session.history("s", measures=["x"], levels=levels, archive=archive))
        == "WU310"
    )
    session.stop()


def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(tmp_path).stop()

    def refused(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", refused)
        assert code_of(lambda: windrow.connect(path=tmp_path)) == "WC406"
    windrow.connect(path=tmp_path).stop()
