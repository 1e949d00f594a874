"""Files of ours under a checkpoint or a sink: local paths or URIs, written whole or not at all.

Those of a checkpoint on a local disk are closed to other users: they hold rows.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyarrow import fs

from windrow.errors import CheckpointError
from windrow.private_files import create_private, is_full, make_private

__all__ = ["Storage"]

# Ours, and Spark's with their checksums.
_UNFINISHED = re.compile(r"\..+\.([0-9a-f]{32}|[0-9a-f-]{36}\.tmp(\.crc)?)")
# One letter before the colon would be a drive of Windows.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
# Hadoop's names of stores, as pyarrow calls them.
_NAMES_IN_ARROW = {"s3a": "s3", "s3n": "s3"}


class Storage:
    """A directory on a file system that pyarrow knows.

    make: it is made when it is not there. is_private: closed to others where it lies on this host.
    """

    def __init__(self, location: str | Path, make: bool = True, is_private: bool = True) -> None:
        self.location = str(location)
        self._files, self._root = _opened(self.location)
        self._is_private = is_private and self.local_path is not None
        if make:
            with self.writing(""):
                if self._is_private:
                    make_private(Path(self._root))
                else:
                    self._files.create_dir(self._root, recursive=True)

    @property
    def uri(self) -> str:
        """The directory in the form that Spark needs.

        A path without a scheme would be one of the cluster's default file system.
        """
        is_local = self.local_path is not None
        return f"file://{self._root}" if is_local else self.location.rstrip("/")

    @property
    def local_path(self) -> Path | None:
        """The directory in this host's file tree; None where it lies elsewhere."""
        return Path(self._root) if isinstance(self._files, fs.LocalFileSystem) else None

    def inside(self, name: str) -> Storage:
        """The directory of that name in this one."""
        return Storage(f"{self.location.rstrip('/')}/{name}", is_private=self._is_private)

    def under(self, name: str) -> Storage:
        """The directory of that name in this one, which others make."""
        return Storage(f"{self.location.rstrip('/')}/{name}", make=False)

    def read(self, name: str) -> bytes | None:
        """What the file holds, or None when there is none."""
        try:
            with self._files.open_input_file(f"{self._root}/{name}") as source:
                return bytes(source.read())
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise self._unread(f"/{name}", problem) from problem

    def _unread(self, name: str, problem: OSError) -> CheckpointError:
        return CheckpointError(
            "WC203",
            f"{self.location}{name} cannot be read: {problem}",
            hint="check that the driver may read it, and that its storage can be reached",
        )

    def write(self, name: str, data: bytes | memoryview) -> None:
        """Replaces the file in one step: readers see the old bytes or the new, never a part."""
        # Spark's file sources and readers of Parquet folders skip names that begin with a dot.
        temporary = f".{name}.{uuid.uuid4().hex}"
        with self.writing(f"/{name}"):
            try:
                self._write(f"{self._root}/{temporary}", data)
                self._files.move(f"{self._root}/{temporary}", f"{self._root}/{name}")
            except BaseException:
                # What is of no use must not take the room that is wanted.
                with suppress(OSError):
                    self._files.delete_file(f"{self._root}/{temporary}")
                raise

    def _write(self, path: str, data: bytes | memoryview) -> None:
        if self._is_private:
            with create_private(Path(path)) as file:
                file.write(data)
        else:
            with self._files.open_output_stream(path) as sink:
                sink.write(data)

    @contextmanager
    def writing(self, name: str) -> Iterator[None]:
        """What the storage refuses inside, of that name in it, is an error of ours."""
        try:
            yield
        except OSError as problem:
            if is_full(problem):
                raise CheckpointError(
                    "WC207",
                    f"the disk is full, {self.location}{name} cannot be written: {problem}",
                    hint=(
                        "free space on that disk and start again: what is there is intact, and "
                        "the query resumes where it stopped"
                    ),
                ) from problem
            raise CheckpointError(
                "WC206",
                f"{self.location}{name} cannot be written: {problem}",
                hint=(
                    "check that it is a folder, that the driver may write there, and that "
                    "there is free space"
                ),
            ) from problem

    def names(self) -> list[str]:
        """The finished files, sorted."""
        return sorted(self.sizes())

    def sizes(self) -> dict[str, int]:
        """How many bytes each finished file has."""
        return {
            entry.base_name: entry.size
            for entry in self._entries()
            if not entry.base_name.startswith(".")
        }

    def folders(self) -> list[str]:
        """The directories in it, sorted."""
        found = self._listed()
        return sorted(each.base_name for each in found if each.type == fs.FileType.Directory)

    def has(self, name: str) -> bool:
        """Whether there is a file or directory of that name."""
        return bool(self._files.get_file_info(f"{self._root}/{name}").type != fs.FileType.NotFound)

    def sweep(self) -> None:
        """Removes what writers that were killed have left unfinished; no other may be at work."""
        for entry in self._entries():
            if _UNFINISHED.fullmatch(entry.base_name):
                self.remove(entry.base_name)

    def _entries(self) -> list[fs.FileInfo]:
        return [entry for entry in self._listed() if entry.type == fs.FileType.File]

    def _listed(self) -> list[fs.FileInfo]:
        try:
            selected = fs.FileSelector(self._root, allow_not_found=True)
            return list(self._files.get_file_info(selected))
        except OSError as problem:
            raise self._unread("", problem) from problem

    def remove(self, name: str) -> None:
        """Removes the file; it need not be there."""
        with self.writing(f"/{name}"), suppress(FileNotFoundError):
            self._files.delete_file(f"{self._root}/{name}")

    def remove_folder(self, name: str) -> None:
        """Removes the directory and all in it; it need not be there."""
        with self.writing(f"/{name}"), suppress(FileNotFoundError):
            if self.has(name):
                self._files.delete_dir(f"{self._root}/{name}")


def _opened(location: str) -> tuple[fs.FileSystem, str]:
    """The file system of a location, and the path in it."""
    found = _SCHEME.match(location)
    if found is None:
        return fs.LocalFileSystem(), str(Path(location).absolute())
    scheme = found[1].lower()
    if scheme == "file":
        return fs.LocalFileSystem(), unquote(urlsplit(location).path)
    try:
        name = _NAMES_IN_ARROW.get(scheme, scheme)
        files, root = fs.FileSystem.from_uri(f"{name}{location[len(scheme) :]}")
    except (OSError, pa.ArrowException) as problem:
        reason = str(problem).partition("\n")[0]
        raise CheckpointError(
            "WC204",
            f"files cannot be stored at {location}: {reason}",
            hint="use a path that all hosts share, or an s3a, gs, abfss or hdfs address; hdfs also "
            "needs libhdfs and CLASSPATH on the driver",
        ) from problem
    return files, root
