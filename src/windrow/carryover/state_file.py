"""The state file: a carryover as one file, which any program that reads zip and Arrow can open.

manifest.json    format, version, query and plan, streams, clock, and the checksum of every part
rows/0.arrow     the rows of an input, prepared, as an Arrow IPC stream
times/0.arrow    the times of rows of a stream that wait
due.arrow        the instants at which answers are due
shards/0, publishers/NAME    where rows do not say all: what these have saved
sources/0/12     on Spark, what a source of files had noted; offsets are in the manifest
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa

from windrow.carryover.carryover import CarriedStream, Carryover
from windrow.carryover.positions import Positions
from windrow.errors import CheckpointError
from windrow.plan.serialise import plan_from_json, plan_to_json
from windrow.private_files import create_private
from windrow.rows.frames import Section, table_bytes, table_of
from windrow.runtime.ledger import Ledger
from windrow.version import __version__

__all__ = ["STATE_FILE_FORMAT", "manifest_of", "read_state_file", "write_state_file"]

# A file of an older format that is listed here is read; others are refused.
STATE_FILE_FORMAT = 1
_READABLE = frozenset([1])

_MANIFEST = "manifest.json"
_DUE = "due.arrow"
_DAMAGED = "restore it from a copy, or export the state again"
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")
# The first moment that a zip archive can name: the same state gives the same bytes.
_NO_DATE = (1980, 1, 1, 0, 0, 0)
_PLAIN_FIELDS = (
    *("name", "clock_us", "answered_us", "began_us", "rows_in", "set_aside", "is_combined"),
    *("is_by_arrival", "time_zone", "offsets"),
)


def write_state_file(path: str | os.PathLike[str], carried: Carryover) -> None:
    """Writes it whole or not at all; only its owner may read the file."""
    target = Path(path)
    parts = _parts_of(carried)
    checks = {name: [len(data), zlib.crc32(data)] for name, data in parts.items()}
    manifest = {
        "format": STATE_FILE_FORMAT,
        "windrow": __version__,
        "query": carried.plan.text,
        "plan": json.loads(plan_to_json(carried.plan)),
        **{name: getattr(carried, name) for name in _PLAIN_FIELDS},
        "rows": {str(number): table.num_rows for number, table in carried.rows.items()},
        "streams": {name: _stream_facts(each) for name, each in carried.streams.items()},
        "positions": None if carried.positions is None else list(carried.positions.lines),
        "parts": checks,
    }
    text = json.dumps({**manifest, "checksum": _checksum(manifest)}, indent=1).encode()
    temporary = target.with_name(f".{target.name}.{uuid4().hex}")
    try:
        try:
            with create_private(temporary) as file, zipfile.ZipFile(file, "w") as archive:
                for name, data in {_MANIFEST: text, **parts}.items():
                    archive.writestr(zipfile.ZipInfo(name, _NO_DATE), bytes(data))
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as problem:
        raise CheckpointError(
            "WC428",
            f"the state file {target} cannot be written: {problem}",
            hint="name a file in a folder that you may write to, on a disk with free space",
        ) from problem


def read_state_file(path: str | os.PathLike[str]) -> Carryover:
    """The carryover that a file holds; one that is damaged or of a newer format is refused."""
    with _Opened(path) as file:
        manifest = file.manifest()
        streams = {
            name: _stream(manifest["streams"][name], schema, file.instants(f"times/{number}.arrow"))
            for number, (name, schema) in enumerate(_schemas(manifest).items())
        }
        names = sorted(manifest["parts"])
        shards = [name for name in names if name.startswith("shards/")]
        publishers = [name for name in names if name.startswith("publishers/")]
        logs = [name for name in names if name.startswith("sources/")]
        lines = manifest.get("positions")
        return Carryover(
            plan=_plan(manifest),
            streams=streams,
            rows={int(number): file.rows(number) for number in manifest["rows"]},
            due=file.instants(_DUE),
            shards=tuple(file.part(f"shards/{number}") for number in range(len(shards))),
            publishers={name.partition("/")[2]: file.part(name) for name in publishers},
            positions=None
            if lines is None
            else Positions(tuple(lines), {name[8:]: file.part(name) for name in logs}),
            **{name: manifest[name] for name in _PLAIN_FIELDS},
        )


def manifest_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a state file says of itself, once all of its parts are found to be whole."""
    with _Opened(path) as file:
        manifest = file.manifest()
        for name in manifest["parts"]:
            file.part(name)
        return manifest


class _Opened:
    """A state file that is being read."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        try:
            self._archive = zipfile.ZipFile(self._path)
        except (OSError, zipfile.BadZipFile) as problem:
            raise self._foreign(problem) from problem
        self._checks: Mapping[str, list[int]] = {}

    def __enter__(self) -> _Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    def manifest(self) -> dict[str, Any]:
        """The manifest, which must be of a format that is known here."""
        if _MANIFEST not in self._archive.namelist():
            raise self._foreign("it has no manifest.json")
        try:
            if self._archive.getinfo(_MANIFEST).compress_type != zipfile.ZIP_STORED:
                raise ValueError("it is compressed")
            manifest: dict[str, Any] = json.loads(self._archive.read(_MANIFEST))
            found, checksum = manifest["format"], manifest.pop("checksum")
        except (ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile) as problem:
            raise self._damaged(_MANIFEST, problem) from problem
        if found not in _READABLE:
            raise CheckpointError(
                "WC422",
                f"the state file {self._path} has format {found}, written by Windrow "
                f"{manifest.get('windrow', 'of a version that it does not name')}; this is Windrow "
                f"{__version__}, which reads format {STATE_FILE_FORMAT}",
                hint="import it with the version that wrote it, or a newer one",
            )
        if checksum != _checksum(manifest):
            raise self._damaged(_MANIFEST, "its checksum does not match")
        self._checks = manifest["parts"]
        return manifest

    def part(self, name: str) -> bytes:
        """The bytes of a part."""
        try:
            size, checksum = self._checks[name]
            info = self._archive.getinfo(name)
            if info.file_size != size or info.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"it has {info.file_size} bytes of {size}")
            data = self._archive.read(info)
        except (KeyError, ValueError, OSError, zipfile.BadZipFile, EOFError) as problem:
            raise self._damaged(name, problem) from problem
        if zlib.crc32(data) != checksum:
            raise self._damaged(name, "its checksum does not match")
        return data

    def rows(self, number: str) -> pa.Table:
        """The rows of an input."""
        return self._read(f"rows/{number}.arrow", lambda table: table)

    def instants(self, name: str) -> Any:
        """Instants of a part; none where there is no such part."""
        if name not in self._checks:
            return np.empty(0, np.int64)
        return self._read(name, lambda table: table.column("us").to_numpy())

    def _read(self, name: str, wanted: Callable[[pa.Table], Any]) -> Any:
        data = self.part(name)
        try:
            return wanted(table_of(data))
        except (pa.ArrowException, KeyError, OSError) as problem:
            raise self._damaged(name, problem) from problem

    def _foreign(self, why: object) -> CheckpointError:
        return CheckpointError(
            "WC421",
            f"{self._path} is not a state file of Windrow: {why}",
            hint="give a file that `windrow state export` or session.export_state() wrote",
        )

    def _damaged(self, name: str, why: object) -> CheckpointError:
        message = f"the part {name} of the state file {self._path} is damaged: {why}"
        return CheckpointError("WC423", message, hint=_DAMAGED)


def _parts_of(carried: Carryover) -> dict[str, Section]:
    parts: dict[str, Section] = {
        f"rows/{number}.arrow": table_bytes(table, _OPTIONS)
        for number, table in carried.rows.items()
    }
    for number, each in enumerate(carried.streams.values()):
        if each.times.size:
            parts[f"times/{number}.arrow"] = _packed(each.times)
    if carried.due.size:
        parts[_DUE] = _packed(carried.due)
    parts |= {f"shards/{number}": data for number, data in enumerate(carried.shards)}
    parts |= {f"publishers/{name}": data for name, data in carried.publishers.items()}
    if carried.positions is not None:
        parts |= {f"sources/{name}": data for name, data in carried.positions.logs.items()}
    return parts


def _packed(instants: Any) -> memoryview:
    return table_bytes(pa.table({"us": np.sort(instants)}), _OPTIONS)


def _stream_facts(stream: CarriedStream) -> dict[str, Any]:
    return {
        "columns": stream.schema.types,
        "time": stream.schema.time,
        "lateness_us": stream.schema.lateness_us,
        "complete_us": stream.complete_us,
        "newest_us": stream.newest_us,
        "first_us": stream.first_us,
        "ledger": asdict(stream.ledger),
    }


def _stream(facts: Mapping[str, Any], schema: Any, times: Any) -> CarriedStream:
    ledger = Ledger(**facts["ledger"])
    through = (facts["complete_us"], facts["newest_us"], facts["first_us"])
    return CarriedStream(schema, *through, ledger, times)


def _schemas(manifest: Mapping[str, Any]) -> dict[str, Any]:
    found = {entry.stream.name: entry.stream for entry in _plan(manifest).inputs}
    return {name: found[name] for name in manifest["streams"]}


def _plan(manifest: Mapping[str, Any]) -> Any:
    plan = plan_from_json(json.dumps(manifest["plan"]))
    return plan if plan.text else replace(plan, text=manifest["query"])


def _checksum(manifest: Mapping[str, Any]) -> str:
    return f"{zlib.crc32(json.dumps(manifest, sort_keys=True).encode()):08x}"
