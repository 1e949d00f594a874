"""Tables as data frames of pandas, Polars or DuckDB, which are imported only on request.

What a table says stays as it is: NULL is not NaN, integers with a NULL stay integers, decimals and
dates are no objects, times are in UTC. In pandas that takes columns of Arrow types.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, overload

import pyarrow as pa

from windrow.errors import BindingError, UnsupportedError

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import polars as pl

__all__ = ["FRAMES", "Frame", "convert", "converter"]

Frame = Literal["pandas", "polars", "duckdb"]
FRAMES: tuple[Frame, ...] = ("pandas", "polars", "duckdb")


@overload
def convert(table: pa.Table, to: None = None) -> pa.Table: ...
@overload
def convert(table: pa.Table, to: Literal["pandas"]) -> pd.DataFrame: ...
@overload
def convert(table: pa.Table, to: Literal["polars"]) -> pl.DataFrame: ...
@overload
def convert(table: pa.Table, to: Literal["duckdb"]) -> duckdb.DuckDBPyRelation: ...
@overload
def convert(table: pa.Table, to: Frame | None) -> Any: ...
def convert(table: pa.Table, to: Frame | None = None) -> Any:
    """Any table of a session as a data frame; None: the table itself.

    >>> import pyarrow as pa
    >>> windows = pa.table({"stream": ["temp"], "rows": [3]})
    >>> convert(windows, "polars").rows()
    [('temp', 3)]
    >>> int(convert(windows, "pandas")["rows"].sum())
    3
    """
    return converter(to)(table)


def converter(to: Frame | None) -> Callable[[pa.Table], Any]:
    """What makes such frames of tables; refused at once where that cannot be."""
    if to is None:
        return lambda table: table
    if to not in FRAMES:
        raise BindingError(
            "WB120",
            f"{to!r} is not a known form of tables",
            hint=f"to= takes {', '.join(map(repr, FRAMES))}, or nothing for a pyarrow.Table",
        )
    library = _library(to)
    if to == "pandas":
        return lambda table: table.to_pandas(types_mapper=library.ArrowDtype)
    if to == "polars":
        return lambda table: library.from_arrow(table)
    return lambda table: library.from_arrow(table)


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise UnsupportedError(
            "WU320",
            f"{name} cannot be imported: {problem}",
            hint=f"pip install {name}, or use the pyarrow.Table",
        ) from None
