"""The files of batches in a folder and the folders of its partitions; many small ones become one.

A file that holds batches 3 to 9 says so in its name: those of one batch that it has taken in are
removed after it is there, by the next look at the folder where a crash came in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa

from windrow.connectors.folders.formats import FileFormat
from windrow.connectors.parquet.merged_files import MERGED_BYTES_LIMIT
from windrow.storage import Storage

__all__ = ["BatchFiles"]


class BatchFiles:
    """The files of one query; small: by folder, batches with a file of their own and its bytes."""

    def __init__(self, path: str, extension: str, form: FileFormat) -> None:
        self._path, self._extension, self._form = path.rstrip("/") or path, extension, form
        self._pattern = re.compile(rf"batch-(\d{{12}})(?:-(\d{{12}}))?\.{extension}")
        self._small: dict[str, dict[int, int]] = {}
        self._due: set[str] = set()  # folders whose files of one batch are to be counted

    @property
    def is_empty(self) -> bool:
        """Whether there is no file."""
        return not any(self._found(""))

    def keep_before(self, batch: int) -> None:
        """Removes the files of this batch and all later ones, and what is left unfinished."""
        self._small.clear()
        found = list(self._found(""))
        joined = [(folder, first, last) for folder, _, first, last in found if last is not None]
        for folder in {"", *(folder for folder, *_ in found)}:
            self._storage(folder).sweep()
        for folder, name, first, last in found:
            is_taken_in = last is None and any(
                each == folder and begin <= first <= end for each, begin, end in joined
            )
            if first >= batch or is_taken_in:
                self._storage(folder).remove(name)
            elif last is None:
                size = self._storage(folder).sizes().get(name, 0)
                self._small.setdefault(folder, {})[first] = size
                self._due.add(folder)

    def write(self, folder: str, batch: int, rows: pa.Table) -> None:
        """Writes the file of a batch, in one step."""
        data = self._form.written(rows)
        self._storage(folder).write(self._name(batch), data)
        self._small.setdefault(folder, {})[batch] = len(data)
        self._due.add(folder)

    def merge(self, batches_per_file: int, before: int) -> None:
        """Makes one of so many files of batches before this one."""
        if batches_per_file < 2:
            self._small.clear()
            return
        for folder in list(self._due):
            small = self._small.get(folder, {})
            known = sorted(batch for batch in small if batch < before)
            if len(known) >= batches_per_file:
                self._join(folder, known)
                self._due.discard(folder)

    def _join(self, folder: str, batches: list[int]) -> None:
        small, storage = self._small[folder], self._storage(folder)
        if sum(small[batch] for batch in batches) <= MERGED_BYTES_LIMIT:
            parts = [storage.read(self._name(batch)) or b"" for batch in batches]
            name = f"batch-{batches[0]:012d}-{batches[-1]:012d}.{self._extension}"
            storage.write(name, self._form.joined(parts))
            for batch in batches:
                storage.remove(self._name(batch))
        for batch in batches:
            del small[batch]  # those that are not small stay as they are

    def _found(self, folder: str) -> Iterator[tuple[str, str, int, int | None]]:
        """Folder, name, first and last batch of every file of ours."""
        storage = self._storage(folder)
        for name in storage.names():
            named = self._pattern.fullmatch(name)
            if named is not None:
                last = None if named[2] is None else int(named[2])
                yield folder, name, int(named[1]), last
        for inner in storage.folders():
            if "=" in inner:
                yield from self._found(f"{folder}/{inner}" if folder else inner)

    def _name(self, batch: int) -> str:
        return f"batch-{batch:012d}.{self._extension}"

    def _storage(self, folder: str) -> Storage:
        return Storage(f"{self._path}/{folder}" if folder else self._path, is_private=False)
