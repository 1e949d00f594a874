"""Parquet files that appear whole or not at all: written under a hidden name, then renamed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["write_whole"]


def write_whole(table: pa.Table, file: Path) -> None:
    """Writes the file; whoever looks at its folder meanwhile sees the old one, or none."""
    hidden = file.with_name(f".{file.name}")  # readers of folders leave such names out
    try:
        pq.write_table(table, hidden)
        hidden.rename(file)
    except BaseException:
        hidden.unlink(missing_ok=True)  # on a full disk its room is wanted
        raise
