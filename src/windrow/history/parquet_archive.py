"""An archive in a directory of Parquet files, one for each node of the coarsest level.

A node of the coarsest level leaves memory whole, and once; its file is named by its start. So a run
that is repeated from an older state writes the same files again, and nothing is there twice.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from windrow.errors import DataError
from windrow.history.nodes.table import schema_of_nodes
from windrow.history.spec import START_COLUMN, HistorySpec
from windrow.private_files import create_private, is_full, make_private
from windrow.schema import TIMESTAMP

__all__ = ["ParquetArchive"]


class ParquetArchive:
    """Nodes of one history below a directory; another bucket has another directory."""

    def __init__(self, folder: str | os.PathLike[str], spec: HistorySpec) -> None:
        self._folder = Path(folder)
        self._step_us = spec.granularities_us[-1]
        self._schema = schema_of_nodes(spec)

    def write(self, nodes: pa.Table) -> None:
        """Write nodes, a file for each of the coarsest level that they lie in."""
        starts = nodes.column(START_COLUMN).cast(pa.int64()).to_numpy() // self._step_us
        with self._writing():
            make_private(self._folder)
            for start in np.unique(starts).tolist():
                part = nodes.filter(pa.array(starts == start))
                self._write_file(int(start) * self._step_us, part)

    def read(self, since_us: int, until_us: int) -> pa.Table:
        """All nodes that begin in an interval, or before it and perhaps reach into it."""
        first_us = since_us // self._step_us * self._step_us
        files = [str(path) for path in self._files(first_us, until_us)]
        if not files:
            return self._schema.empty_table()
        wanted = pc.field(START_COLUMN) < pa.scalar(until_us, TIMESTAMP.arrow)
        table: pa.Table = ds.dataset(files, schema=self._schema).to_table(filter=wanted)
        return table

    def _files(self, first_us: int, until_us: int) -> list[Path]:
        """The files of nodes that begin in an interval: their names tell."""
        if not self._folder.is_dir():
            return []
        found = [path for path in self._folder.iterdir() if path.suffix == ".parquet"]
        return sorted(path for path in found if first_us <= int(path.stem) < until_us)

    def _write_file(self, start_us: int, nodes: pa.Table) -> None:
        path = self._folder / f"{start_us}.parquet"
        unfinished = path.with_suffix(".unfinished")
        unfinished.unlink(missing_ok=True)
        try:
            with create_private(unfinished) as file:
                pq.write_table(nodes, file)
            unfinished.replace(path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            what = "the disk is full for" if is_full(problem) else "nothing can be written to"
            raise DataError(
                "WD520",
                f"{what} the archive of a history at {self._folder}: {problem}",
                hint="free space on that disk, or give this user permission to write there",
            ) from problem
