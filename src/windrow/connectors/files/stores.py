"""Files in stores that are not folders of this machine: S3, Google's, and addresses of HTTP.

Who may read is said in the environment, as each store's own programs read it: an address with a
user or a password is refused, so that none is ever shown.
"""

from __future__ import annotations

import fnmatch
import http.client
import posixpath
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast
from urllib.parse import urlsplit

from pyarrow import fs

from windrow.connectors.files.connector import FileSource, has_secrets, without_secrets
from windrow.connectors.files.listing import MOST_FILES, is_finished_name
from windrow.connectors.live import TransientError
from windrow.errors import BindingError, DataError

__all__ = ["SCHEMES", "StoredFile", "fetched", "store_of", "stored_files"]

SCHEMES = ("s3", "s3a", "gs", "gcs", "http", "https")
PATIENCE_S = 30
_PIECE_BYTES = 1 << 20
# Servers, and addresses that are signed, which answer GET only.
_NO_HEAD = (403, 405, 501)
store_at = fs.FileSystem.from_uri


class StoredFile(NamedTuple):
    """A file by its address, and by what tells it from one that takes its place."""

    address: str
    path: str
    mark: str

    @property
    def name(self) -> str:
        """The last part of its path."""
        return posixpath.basename(self.path)


class Store(Protocol):
    """Where files are looked for, and read from. Both raise OSError."""

    def found(self) -> list[StoredFile]:
        """The files that the path means now."""

    def opened(self, path: str) -> AbstractContextManager[Any]:
        """One of them, as bytes that are read forwards."""

    def has(self, stored: StoredFile) -> bool:
        """Whether it is still that one, where the store can tell."""


def store_of(source: FileSource) -> Store:
    """The store of a path."""
    scheme = source.path.partition("://")[0]
    if scheme not in SCHEMES:
        raise BindingError(
            "WB534",
            f"files of {scheme}:// cannot be read in this process",
            hint=f"use one of {', '.join(SCHEMES)}, or a path of this machine",
            place=source.place,
        )
    shown = without_secrets(source.path)
    if has_secrets(source.path):
        raise BindingError(
            "WB535",
            f"the address of a file, {shown}, has a user or a password",
            hint="leave it out: who may read is said in the environment, such as by "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            place=source.place,
        )
    try:
        _ = urlsplit(source.path).port
    except ValueError:
        raise BindingError(
            "WB538",
            f"{shown} is no address of a file: its server, or bucket, cannot be that",
            hint="write scheme://server:port/path, or scheme://bucket/path",
            place=source.place,
        ) from None
    return _Web(source) if scheme.startswith("http") else _Bucket(source)


def stored_files(store: Store, source: FileSource) -> list[StoredFile]:
    """Finished files in the order of their names."""
    found = sorted(each for each in store.found() if is_finished_name(each.name))
    if len(found) > MOST_FILES:
        raise DataError(
            "WD531",
            f"{source.shown} has {len(found):,} files, and more than {MOST_FILES:,} are not "
            "followed",
            hint="move files away that were read, or name a pattern that fewer fit",
            place=source.place,
        )
    return found


@contextmanager
def fetched(store: Store, stored: StoredFile, folder: Path) -> Iterator[Path]:
    """A copy of the file in a folder of this machine, while it is read."""
    copy = folder / stored.name
    try:
        with store.opened(stored.path) as read, copy.open("wb") as written:
            shutil.copyfileobj(read, written, _PIECE_BYTES)
        if not store.has(stored):  # it would be read again as the other file that it is
            raise OSError("it was replaced while it was fetched")
        yield copy
    finally:
        copy.unlink(missing_ok=True)


class _Bucket(Store):
    """Objects of a bucket: one, all below a prefix, or those that fit a pattern there."""

    def __init__(self, source: FileSource) -> None:
        address, mark, settings = source.path.partition("?")
        if "=" not in settings:  # a pattern with a question mark
            address, mark, settings = source.path, "", ""
        scheme, _, path = address.partition("://")
        self._scheme, self._settings = scheme.replace("s3a", "s3"), mark + settings
        whole = path.rstrip("/")
        self._pattern = posixpath.basename(whole) if _is_pattern(whole) else None
        self._base = posixpath.dirname(whole) if self._pattern else whole
        self._files: Any = None

    def _store(self) -> Any:
        if self._files is None:
            bucket = self._base.partition("/")[0]
            address = f"{self._scheme}://{bucket}{self._settings}"
            try:
                self._files, _ = store_at(address)
            except (ValueError, NotImplementedError) as problem:
                said = str(problem).replace(address, address.removesuffix(self._settings))
                raise OSError(said) from None
        return self._files

    def found(self) -> list[StoredFile]:
        store = self._store()
        (base,) = store.get_file_info([self._base])
        if base.type == fs.FileType.File and self._pattern is None:
            return [self._stored(base)]
        selector = fs.FileSelector(self._base, allow_not_found=True)
        infos = [each for each in store.get_file_info(selector) if each.type == fs.FileType.File]
        return [self._stored(each) for each in infos if self._fits(each.base_name)]

    def _fits(self, name: str) -> bool:
        return self._pattern is None or fnmatch.fnmatchcase(name, self._pattern)

    def _stored(self, info: Any) -> StoredFile:
        mark = f"{info.path}-{info.size}-{info.mtime_ns}"
        return StoredFile(f"{self._scheme}://{info.path}", info.path, mark)

    def opened(self, path: str) -> AbstractContextManager[Any]:
        return cast("AbstractContextManager[Any]", self._store().open_input_stream(path))

    def has(self, stored: StoredFile) -> bool:
        (info,) = self._store().get_file_info([stored.path])
        return info.type == fs.FileType.File and self._stored(info) == stored


class _Web(Store):
    """One address of HTTP, as it is answered now."""

    def __init__(self, source: FileSource) -> None:
        self._address = source.path

    def found(self) -> list[StoredFile]:
        told = self._told()
        if told is None:
            return []
        path = urlsplit(self._address).path.rstrip("/") or "index"
        facts = [told.get(name, "") for name in ("ETag", "Last-Modified", "Content-Length")]
        shown = self._address.partition("?")[0]
        return [StoredFile(shown, path, "-".join([path, *facts]))]

    def _told(self) -> Any:
        """The headers of the file; None where there is none."""
        for method, is_last in (("HEAD", False), ("GET", True)):
            try:
                with _failing_as_files(), self._asked(method) as answer:
                    return answer.headers
            except urllib.error.HTTPError as problem:
                if problem.code == 404:
                    return None
                if is_last or problem.code not in _NO_HEAD:
                    raise
        return None

    @contextmanager
    def opened(self, path: str) -> Iterator[Any]:
        del path
        with _failing_as_files(), self._asked("GET") as answer:
            yield answer
            # A connection that ends too early looks like the end of the file.
            if answer.length:
                raise OSError(f"{answer.length:,} bytes are missing at its end")

    def has(self, stored: StoredFile) -> bool:
        del stored
        return True

    def _asked(self, method: str) -> Any:
        asked = urllib.request.Request(self._address, method=method)
        return urllib.request.urlopen(asked, timeout=PATIENCE_S)


@contextmanager
def _failing_as_files() -> Iterator[None]:
    """What a server says against the rules of HTTP is an OSError, too."""
    try:
        yield
    except http.client.HTTPException as problem:
        raise OSError(f"{type(problem).__name__}: {problem}") from problem


def _is_pattern(path: str) -> bool:
    return any(mark in posixpath.basename(path) for mark in "*?[")


def unreached(source: FileSource, problem: Exception) -> TransientError:
    """What may pass: a server that does not answer, an object that is not there any more."""
    said = str(problem).partition("\n")[0]
    return TransientError(f"{source.path.partition('?')[0]} cannot be read: {said}")
