"""Files that grow, are rotated and truncated, read from any position on: each line once."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from windrow import sources
from windrow.connectors.files import live_text
from windrow.connectors.files.live_text import LiveText
from windrow.connectors.live import TransientError
from windrow.errors import DataError
from windrow.schema import StreamSchema, columns_of


class Reading:
    """A reader of a path under a clock of the test's own, and what it has given so far."""

    def __init__(self, path: Path, form: str = "jsonl", **options: Any) -> None:
        self.source = getattr(sources, form)(path, follow=True, **options)
        self.schema = StreamSchema("s", columns_of("ts timestamp, x bigint"), "ts")
        self.now_s, self.position, self.lag = 0.0, None, None
        self.given: list[int] = []
        self.bad: list[Any] = []
        self.open()

    def open(self) -> None:
        self.reader = LiveText(self.schema, self.source, self.position, lambda: self.now_s)

    def again(self) -> None:
        """What another process does that has the position of this one."""
        self.reader.close()
        self.position = json.loads(json.dumps(self.position))
        self.open()

    def read(self) -> list[int]:
        """All that is there now."""
        before = len(self.given)
        self.now_s += 1
        while (polled := self.reader.poll(1000, 0)) is not None:
            self.given += polled.rows.batch["x"].to_pylist()
            self.bad += polled.rows.bad
            self.position, self.lag = polled.position, polled.lag
        return self.given[before:]


def lines(*numbers: int) -> str:
    return "".join(f'{{"ts": "2026-01-01 00:00:00", "x": {number}}}\n' for number in numbers)


def write(path: Path, text: str, mode: str = "a") -> None:
    with path.open(mode) as file:
        file.write(text)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def test_lines_are_read_as_they_come_and_once(log: Path) -> None:
    reading = Reading(log)
    assert reading.read() == []
    write(log, lines(1, 2))
    assert reading.read() == [1, 2]
    write(log, lines(3)[:-5])
    assert reading.read() == []
    write(log, lines(3)[-5:] + lines(4))
    reading.again()
    assert reading.read() == [3, 4]
    reading.again()
    assert reading.read() == []
    assert reading.lag is not None
    assert reading.lag.has_caught_up


@pytest.mark.parametrize("is_opened_again", [False, True])
@pytest.mark.parametrize("packs", [False, True])
def test_a_renamed_file_is_read_to_its_end_first(
    log: Path, is_opened_again: bool, packs: bool
) -> None:
    reading = Reading(log)
    write(log, lines(1))
    assert reading.read() == [1]
    write(log, lines(2))
    old = log.with_name("log.1")
    if packs and is_opened_again:
        with gzip.open(log.with_name("log.1.gz"), "wb") as packed:
            packed.write(log.read_bytes())
        log.unlink()
    else:
        log.rename(old)
    write(log, lines(3))
    if is_opened_again:
        reading.again()
    assert reading.read() == [2, 3]
    if not packs:
        write(old, lines(4))  # by who has it open still
        assert reading.read() == [4]
    reading.now_s += live_text.LEAVING_S
    reading.read()
    assert list(reading.position or {}) == [str(log.stat().st_ino)]


@pytest.mark.parametrize("is_opened_again", [False, True])
def test_a_truncated_file_is_read_to_its_end_in_its_copy(log: Path, is_opened_again: bool) -> None:
    reading = Reading(log)
    write(log, lines(*range(10)))
    assert reading.read() == [*range(10)]
    write(log, lines(10))
    shutil.copy(log, log.with_name("log.1"))
    os.truncate(log, 0)
    write(log, lines(*range(11, 31)))  # more than there was before
    if is_opened_again:
        reading.again()
    assert reading.read() == [*range(10, 31)]


def test_a_folder_fills(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    write(tmp_path / "b", lines(1))
    write(tmp_path / "a", lines(2))
    os.utime(tmp_path / "b", (1, 1))
    write(tmp_path / ".hidden", lines(7))
    write(tmp_path / "c.tmp", lines(3))
    assert reading.read() == [1, 2]
    (tmp_path / "c.tmp").rename(tmp_path / "c")
    with gzip.open(tmp_path / "d.gz", "wt") as packed:
        packed.write(lines(4, 5))
    reading.again()
    assert reading.read() == [3, 4, 5]
    for file in (tmp_path / "a", tmp_path / "b"):
        file.unlink()
    reading.read()
    reading.now_s += live_text.LEAVING_S
    reading.read()
    assert len(reading.position or {}) == 2
    assert reading.given == [1, 2, 3, 4, 5]


def test_files_that_were_rotated_while_nobody_read_are_read(log: Path) -> None:
    reading = Reading(log)
    for number in range(6):
        write(log, lines(number))
        if number in (0, 3):
            assert reading.read()[-1:] == [number]
            reading.reader.close()
        older = log.with_name(f"log.{9 - number}")
        log.rename(older)
        os.utime(older, (100 + number, 100 + number))
        if number == 2:
            reading.open()
    write(log, lines(6))
    reading.open()
    assert reading.read() == [4, 5, 6]
    assert reading.given == [*range(7)]


def test_many_files_are_not_all_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_text, "MOST_OPEN", 3)
    for number in range(20):
        write(tmp_path / str(number), lines(number))
        os.utime(tmp_path / str(number), (number + 1, number + 1))
    reading = Reading(tmp_path)
    for _ in range(20):
        reading.read()
        assert len(reading.reader._files) <= 3
    assert reading.given == [*range(20)]
    write(tmp_path / "4", lines(24))
    assert reading.read() == [24]
    reading.again()
    assert [reading.read() for _ in range(9)] == [[]] * 9
    write(tmp_path / "9", lines(29))
    assert sorted(map(tuple, (reading.read() for _ in range(9))))[-1:] == [(29,)]
    assert len(reading.given) == 22


def test_a_last_line_without_an_end_is_read_when_it_is_left_alone(log: Path) -> None:
    reading = Reading(log)
    write(log, lines(1, 2)[:-1])
    assert reading.read() == [1]
    reading.now_s += live_text.UNTERMINATED_S
    assert reading.read() == [2]


def test_csv_has_a_header_in_each_file(tmp_path: Path) -> None:
    reading = Reading(tmp_path, "csv")
    write(tmp_path / "a", "ts,x\n2026-01-01,1\n")
    write(tmp_path / "b", 'ts,x\n"2026-01-01\n')
    assert reading.read() == [1]
    write(tmp_path / "b", '00:00:07",2\n2026-01-01,3\n')
    assert reading.read() == [2, 3]  # a time may have a line feed in it
    write(tmp_path / "b", "2026-01-01,four\n")
    assert reading.read() == []
    assert [bad.line for bad in reading.bad] == [5]
    write(tmp_path / "c", "ts,y\n")
    with pytest.raises(DataError, match="WD505"):
        reading.read()


def test_a_bad_line_is_set_aside_with_its_place(log: Path) -> None:
    reading = Reading(log)
    write(log, lines(1) + "nonsense\n" + lines(2))
    assert reading.read() == [1, 2]
    ((bad),) = reading.bad
    assert (bad.file, bad.line, bad.row) == (str(log), 2, "nonsense")


def test_a_line_that_is_far_too_long_is_never_held(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_text, "LONGEST_LIVE_LINE_BYTES", 1000)
    monkeypatch.setattr(live_text, "BLOCK_BYTES", 256)
    reading = Reading(log)
    write(log, lines(1) + "x" * 50_000)
    assert reading.read() == [1]
    write(log, "x" * 5000 + "\n" + lines(2))
    assert reading.read() == [2]
    assert [bad.why for bad in reading.bad] == ["it is longer than 1,000 bytes"]


def test_a_file_that_may_not_be_read_is_tried_again(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    (tmp_path / "a.gz").write_bytes(b"this is not packed")
    with pytest.raises(TransientError, match=r"a\.gz cannot be read"):
        reading.read()
