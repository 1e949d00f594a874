"""The state file: other programs can open it, and what is wrong with one is said at once."""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from support.carried_runs import begun
from support.query_forms import PUSHES
from support.sessions import session_of
from windrow.carryover.state_file import manifest_of, read_state_file, write_state_file
from windrow.errors import CheckpointError

JOIN = """SELECT a.k, COUNT(*) AS n, SUM(b.l) AS t FROM a [4 SECONDS], b [3 SECONDS]
          WHERE a.k = b.k GROUP BY a.k"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    session, _ = begun(JOIN, PUSHES[:20])
    session.export_state("q", tmp_path / "q.wstate")
    return tmp_path / "q.wstate"


def rewritten(file: Path, changed: dict[str, bytes | None]) -> None:
    """The file with other parts; None: without this one."""
    with zipfile.ZipFile(file) as archive:
        parts: dict[str, bytes | None] = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in (parts | changed).items():
            if data is not None:
                archive.writestr(name, data)


def with_manifest(file: Path, **facts: Any) -> None:
    """The file with another manifest whose checksum is right."""
    with zipfile.ZipFile(file) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    del manifest["checksum"]
    manifest |= facts
    checksum = f"{zlib.crc32(json.dumps(manifest, sort_keys=True).encode()):08x}"
    data = json.dumps({**manifest, "checksum": checksum}).encode()
    rewritten(file, {"manifest.json": data})


def test_any_program_can_read_it(file: Path) -> None:
    manifest = manifest_of(file)
    assert manifest["format"] == 1
    assert manifest["query"].split() == JOIN.split()
    assert manifest["streams"]["a"]["columns"]["k"] == "INT"
    with zipfile.ZipFile(file) as archive:
        rows = pa.ipc.open_stream(archive.read("rows/0.arrow")).read_all()
    assert rows.num_rows == manifest["rows"]["0"] > 0
    assert file.stat().st_mode & 0o077 == 0, "it holds rows of users"


def test_the_same_state_gives_the_same_bytes(file: Path, tmp_path: Path) -> None:
    write_state_file(tmp_path / "again", read_state_file(file))
    assert (tmp_path / "again").read_bytes() == file.read_bytes()


def test_what_is_no_state_file_is_refused(tmp_path: Path) -> None:
    session = session_of()
    with pytest.raises(CheckpointError, match=r"(?s)WC421.*No such file.*Hint"):
        session.import_state(tmp_path / "nothing")
    (tmp_path / "text").write_text("rows")
    with pytest.raises(CheckpointError, match="WC421"):
        session.import_state(tmp_path / "text")
    with zipfile.ZipFile(tmp_path / "zip", "w") as archive:
        archive.writestr("rows", "1")
    with pytest.raises(CheckpointError, match=r"(?s)WC421.*no manifest"):
        session.import_state(tmp_path / "zip")


def test_a_newer_format_is_refused(file: Path) -> None:
    with_manifest(file, format=2, windrow="9.0.0")
    with pytest.raises(CheckpointError, match=r"(?s)WC422.*format 2, written by Windrow 9\.0\.0"):
        session_of().import_state(file)


def test_another_version_of_windrow_does_not_matter(file: Path) -> None:
    with_manifest(file, windrow="0.0.1")
    assert session_of().import_state(file).is_running


def test_damage_is_found_in_every_part(file: Path) -> None:
    whole = file.read_bytes()
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        data = {name: archive.read(name) for name in names}
    assert {"manifest.json", "rows/0.arrow", "rows/1.arrow"} <= set(names)
    for name in names:
        flipped = bytearray(data[name])
        flipped[len(flipped) // 2] ^= 4
        for change in (bytes(flipped), data[name][:-1], None):
            file.write_bytes(whole)
            rewritten(file, {name: change})
            session = session_of()
            with pytest.raises(CheckpointError, match=r"WC42[13]"):
                session.import_state(file)
            with pytest.raises(CheckpointError, match=r"WC42[13]"):
                manifest_of(file)
            assert not session.queries().num_rows
            assert not sum(session.ledger()["rows_in"].to_pylist())


def test_a_file_that_is_cut_off_is_refused(file: Path) -> None:
    whole = file.read_bytes()
    for size in range(0, len(whole), 97):
        file.write_bytes(whole[:size])
        with pytest.raises(CheckpointError, match=r"WC42[13]"):
            read_state_file(file)


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    session, _ = begun(JOIN, PUSHES[:2])
    with pytest.raises(CheckpointError, match="WC428"):
        session.export_state("q", tmp_path / "no" / "q.wstate")
    (tmp_path / "folder").mkdir()
    with pytest.raises(CheckpointError, match="WC428"):
        session.export_state("q", tmp_path / "folder")
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]
