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
from windrow.connectors.files.tailed_file import Mark, TailedFile
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
UNTERMINATED_S = 5.0


class GivenUpError(TransientError):
    """A file cannot be read now."""


class LiveText(LiveReader):
    """The files that a path means, now and later, each from its beginning on and in order of names.

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
        """Files that have something unread: what is on its way out first, then by name."""
        some = [file for file in self._files.values() if file.unread]
        yield from sorted(some, key=lambda each: (not each.is_leaving, str(each.path)))

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
        for key, path in found.items():
            if key not in self._files:
                self._begin(path, now_s)
        took_s = time.perf_counter() - before_s
        self._look_at_s = now_s + max(LOOK_EVERY_S, LOOK_PART * took_s)

    def _resume(self, found: dict[str, Path], now_s: float) -> None:
        """Files of a position: under their names, or others that rotation has given them."""
        for key, mark in [*self._marks.items()]:
            del self._marks[key]
            self._forgotten = True
            path = found.get(key)
            own = [path] if path is not None else []
            for candidate in [*own, *rotated_from(Path(mark.path), by_inode=key)]:
                file = _opened(candidate, now_s)
                if file is None:
                    continue
                if file.key not in self._files and file.fits(mark):
                    file.go_on(mark)
                    self._add(file, is_listed=file.key in found)
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

    def _see_again(self, file: TailedFile, found: dict[str, Path], now_s: float) -> None:
        size = file.size
        file.look(now_s)
        if file.key in found:
            file.path, file.is_leaving = found[file.key], False
        elif not file.is_leaving:
            file.is_leaving, file.changed_at_s = True, now_s
        if file.offset and file.size != size and file.is_another:
            self._save_rest(file, now_s)
            file.begin_again()
            self._marks.pop(file.key, None)
            self._forgotten = True
        is_over = now_s - file.changed_at_s >= LEAVING_S and not file.unread
        if file.is_leaving and is_over:
            file.close()
            del self._files[file.key]
            self._forgotten = self._marks.pop(file.key, None) is not None or self._forgotten

    def _save_rest(self, file: TailedFile, now_s: float) -> None:
        """What a file had that was truncated, and is not read, is in the copy made of it."""
        mark = file.mark()
        for path in rotated_from(file.path):
            copy = _opened(path, now_s)
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


def _is_waited_for(file: TailedFile) -> bool:
    """Whether what is unread of a file is no whole line yet."""
    return file.looked_size == file.size


def _key_of(path: Path) -> Iterator[str]:
    try:
        yield str(path.stat().st_ino)
    except OSError:
        return


def _opened(path: Path, now_s: float) -> TailedFile | None:
    """The file, unless it has gone meanwhile."""
    try:
        return TailedFile.opened(path, now_s)
    except FileNotFoundError:
        return None
    except OSError as problem:
        why = os.strerror(problem.errno) if problem.errno else str(problem)
        raise GivenUpError(f"{path} cannot be opened: {why}") from problem
