"""Text files that grow, are rotated and truncated, and folders that fill with them."""

from __future__ import annotations

import csv
import io
import os
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from windrow.connectors.files.connector import FileSource
from windrow.connectors.files.csv_files import check_names
from windrow.connectors.files.listing import listed, rotated_from
from windrow.connectors.files.tailed_file import Mark, RestingFile, TailedFile
from windrow.connectors.line_rows import LineRows
from windrow.connectors.live import Lag, LiveReader, Polled, Position, TransientError
from windrow.connectors.whole_lines import LONGEST_LIVE_LINE_BYTES, whole_end
from windrow.rows.file_rows import FileRows
from windrow.schema import StreamSchema

__all__ = ["BLOCK_BYTES", "GivenUpError", "LiveText"]

BLOCK_BYTES = 1 << 20
# Files are looked at so often; where there are many, a look takes this part of the time.
LOOK_EVERY_S = 0.05
LOOK_PART = 20
# A file that was renamed may still be written for a while; so may a line without its end.
LEAVING_S = 5.0
# So many files stay open; of others those that nobody has written into for a while are closed.
MOST_OPEN = 128
UNKNOWN = -1
UNTERMINATED_S = 5.0


class GivenUpError(TransientError):
    """A file cannot be read now."""


class LiveText(LiveReader):
    """The files that a path means, now and later, each from its beginning on, the oldest first.

    Its position is a mark for each file that is there, by the number of its inode.
    """

    def __init__(
        self,
        schema: StreamSchema,
        source: FileSource,
        position: Position | None,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._schema, self._source, self._now_s = schema, source, now_s
        self._lines = LineRows(schema, source, source.format, source.delimiter)
        self._marks = {key: Mark.of(saved) for key, saved in (position or {}).items()}
        self._files: dict[str, TailedFile] = {}
        self._resting: dict[str, RestingFile] = {}
        self._look_at_s, self._has_looked = now_s(), False
        self._forgotten = False  # whether the position has lost files since it was last given

    # ---- what the loop calls

    def poll(self, most_rows: int, timeout_s: float) -> Polled | None:
        """Rows of the first file that has new ones."""
        deadline_s = self._now_s() + timeout_s
        while True:
            self._look()
            for file in self._in_order():
                rows = self._rows_of(file)
                if rows is not None:
                    self._marks[file.key] = file.mark()
                    return self._polled(rows)
            if self._forgotten:
                return self._polled(self._lines.none)
            left_s = deadline_s - self._now_s()
            if left_s <= 0:
                return None
            time.sleep(min(left_s, LOOK_EVERY_S))

    def close(self) -> None:
        """Close all files."""
        for file in self._files.values():
            file.close()
        self._files = {}

    def _polled(self, rows: FileRows) -> Polled:
        self._forgotten = False
        unread = sum(file.unread for file in self._files.values() if not _is_waited_for(file))
        position = {key: list(mark) for key, mark in self._marks.items()}
        return Polled(rows, position, Lag(unread, "bytes"))

    def _in_order(self) -> Iterator[TailedFile]:
        """Files that have something unread, the oldest first."""
        some = [file for file in self._files.values() if file.unread]
        yield from sorted(some, key=_place_of)

    # ---- which files there are

    def _look(self) -> None:
        now_s = self._now_s()
        if self._has_looked and now_s < self._look_at_s:
            return
        before_s = time.perf_counter()
        found = {key: path for path in listed(self._source) for key in _key_of(path)}
        if not self._has_looked:
            self._resume(found, now_s)
        self._has_looked = True
        for file in [*self._files.values()]:
            self._see_again(file, found, now_s)
        for key in [key for key in self._resting if key not in found]:
            self._forget(key)
        for key in [key for key in self._resting if key in found]:
            self._wake(key, found[key], now_s)
        known = self._files.keys() | self._resting.keys()
        new = sorted((_age_of(path), path) for key, path in found.items() if key not in known)
        for _, path in new[: max(0, MOST_OPEN - len(self._files))]:
            self._begin(path, now_s)
        took_s = time.perf_counter() - before_s
        self._look_at_s = now_s + max(LOOK_EVERY_S, LOOK_PART * took_s)

    def _resume(self, found: dict[str, Path], now_s: float) -> None:
        """Files of a position: under their names, or others that rotation has given them."""
        for key, mark in [*self._marks.items()]:
            if key in found:
                self._resting[key] = RestingFile(found[key], UNKNOWN, UNKNOWN, mark)
                continue
            del self._marks[key]
            self._forgotten = True
            for candidate in rotated_from(Path(mark.path), by_inode=key):
                file = _opened(candidate, now_s)
                if file is None:
                    continue
                if file.key not in self._files and file.fits(mark):
                    file.go_on(mark)
                    self._add(file, is_listed=file.key in found)
                    self._find_later(Path(mark.path), file, found, now_s)
                    break
                file.close()

    def _add(self, file: TailedFile, *, is_listed: bool) -> None:
        self._files[file.key] = file
        file.is_leaving = not is_listed
        if file.offset:
            self._marks[file.key] = file.mark()

    def _begin(self, path: Path, now_s: float) -> None:
        """A file that was not there before, or a copy of one that is about to be truncated."""
        file = _opened(path, now_s)
        if file is None:
            return
        for known in self._files.values():
            is_copy = path in rotated_from(known.path) and known.offset > 0
            if is_copy and file.fits(known.mark()):
                if not known.is_another:
                    file.close()  # it stays so until the file itself is truncated
                    return
                file.go_on(known.mark())
        self._add(file, is_listed=True)

    def _find_later(
        self, path: Path, before: TailedFile, found: dict[str, Path], now_s: float
    ) -> None:
        """Files that had the name of one after it was rotated, and were rotated since."""
        if not before.is_leaving:
            return
        for later in rotated_from(path):
            for key in _key_of(later):
                if key in self._files or key in found or key in self._marks:
                    continue
                file = _opened(later, now_s)
                if file is None:
                    continue
                # A copy of it, perhaps packed, is as old as it is itself.
                is_copy = before.offset > 0 and file.fits(before.mark())
                if file.modified_ns <= before.modified_ns or is_copy:
                    file.close()
                else:
                    self._add(file, is_listed=False)

    def _wake(self, key: str, path: Path, now_s: float) -> None:
        """A file that is closed: it is opened where it was, if somebody has written into it."""
        resting = self._resting[key]
        if len(self._files) >= MOST_OPEN:
            return  # at a later look
        try:
            if resting.is_as_it_was(path.stat()):
                return
        except OSError:
            return  # it has gone meanwhile
        file = _opened(path, now_s)
        if file is None:
            return
        del self._resting[key]
        if file.fits(resting.mark):
            file.go_on(resting.mark)
        else:
            self._forgotten = self._marks.pop(key, None) is not None or self._forgotten
            self._save_rest(path, resting.mark, now_s)
        self._add(file, is_listed=True)

    def _forget(self, key: str) -> None:
        self._files.pop(key, None)
        self._resting.pop(key, None)
        self._forgotten = self._marks.pop(key, None) is not None or self._forgotten

    def _see_again(self, file: TailedFile, found: dict[str, Path], now_s: float) -> None:
        size = file.size
        file.look(now_s)
        if file.key in found:
            file.path, file.is_leaving = found[file.key], False
        elif not file.is_leaving:
            file.is_leaving, file.changed_at_s = True, now_s
            self._find_later(file.path, file, found, now_s)
        if file.offset and file.size != size and file.is_another:
            self._save_rest(file.path, file.mark(), now_s)
            file.begin_again()
            self._marks.pop(file.key, None)
            self._forgotten = True
        is_old = time.time() - file.modified_ns / 1e9 >= LEAVING_S
        is_left_alone = now_s - file.changed_at_s >= LEAVING_S
        if file.unread or not (is_left_alone or (is_old and not file.is_leaving)):
            return
        if file.is_leaving:
            file.close()
            self._forget(file.key)
        elif len(self._files) >= MOST_OPEN and file.offset:
            file.close()
            self._resting[file.key] = self._files.pop(file.key).resting()

    def _save_rest(self, path: Path, mark: Mark, now_s: float) -> None:
        """What a file had that was truncated, and is not read, is in the copy made of it."""
        for beside in rotated_from(path):
            copy = _opened(beside, now_s)
            if copy is None:
                continue
            if copy.key not in self._files and copy.fits(mark):
                copy.go_on(mark)
                self._add(copy, is_listed=False)
                return
            copy.close()

    # ---- what is in them

    def _rows_of(self, file: TailedFile) -> FileRows | None:
        """The next rows of a file; None: there is no whole line."""
        if file.looked_size == file.size and not self._is_left_alone(file):
            return None
        try:
            data = self._whole(file)
        except (OSError, zlib.error) as problem:
            raise GivenUpError(f"{file.path} cannot be read: {problem}") from problem
        if data is None:
            return None
        line, at, name = file.line, file.offset, str(file.path)
        skipped = file.skips_line
        header = 0
        if at == 0 and self._source.header and self._lines.is_csv:
            header = self._header_end(file, data)
        file.move(data)
        if skipped:
            file.skips_line = not data.endswith(b"\n")
            return self._lines.none
        if len(data) > LONGEST_LIVE_LINE_BYTES and b"\n" not in data:
            file.skips_line = True
            why = f"it is longer than {LONGEST_LIVE_LINE_BYTES:,} bytes"
            return self._lines.unreadable(data, why, name, line)
        return self._lines.of(data[header:], name, line + (1 if header else 0))

    def _whole(self, file: TailedFile) -> bytes | None:
        """Bytes of whole lines, or of a line that is far too long, or has been left as it is."""
        count = BLOCK_BYTES
        while True:
            data = file.bytes_at(file.offset, count)
            if file.skips_line:
                end = data.find(b"\n") + 1 or len(data)
                return data[:end] or None
            end = self._end_of_whole(data)
            if end:
                return data[:end]
            if len(data) < count:  # all that there is
                if data and self._is_left_alone(file):
                    return data
                file.looked_size = file.size
                return None
            if count > LONGEST_LIVE_LINE_BYTES:
                return data
            count *= 4

    def _end_of_whole(self, data: bytes) -> int:
        return whole_end(data, is_csv=self._lines.is_csv, delimiter=self._lines.delimiter)

    def _is_left_alone(self, file: TailedFile) -> bool:
        """Whether nobody goes on with a line that has no end."""
        return self._now_s() - file.changed_at_s >= UNTERMINATED_S

    def _header_end(self, file: TailedFile, data: bytes) -> int:
        """Where the names of the columns end, which must be those of the stream."""
        end = self._end_of_whole(data[: data.find(b"\n") + 1]) or data.find(b"\n") + 1 or len(data)
        text = data[:end].decode("utf-8-sig", "replace")
        names = next(csv.reader(io.StringIO(text), delimiter=self._source.delimiter), [])
        check_names(self._schema, self._source, file.path, names)
        return end


def _place_of(file: TailedFile) -> tuple[bool, int, str]:
    """What is on its way out goes first: who writes may have begun the next one already."""
    return not file.is_leaving, file.modified_ns, str(file.path)


def _is_waited_for(file: TailedFile) -> bool:
    """Whether what is unread of a file is no whole line yet."""
    return file.looked_size == file.size


def _key_of(path: Path) -> Iterator[str]:
    try:
        yield str(path.stat().st_ino)
    except OSError:
        return


def _age_of(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _opened(path: Path, now_s: float) -> TailedFile | None:
    """The file, unless it has gone meanwhile."""
    try:
        return TailedFile.opened(path, now_s)
    except FileNotFoundError:
        return None
    except OSError as problem:
        why = os.strerror(problem.errno) if problem.errno else str(problem)
        raise GivenUpError(f"{path} cannot be opened: {why}") from problem
