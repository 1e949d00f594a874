"""The side table of q13: a text for each remainder of an auction's number."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["SIDE_SCHEMA", "SIDE_TABLE"]

SIDE_SCHEMA = "key bigint, value string"
SIDE_ROWS = 10_000

_KEYS = list(range(SIDE_ROWS))
SIDE_TABLE = pa.table({"key": _KEYS, "value": [f"value {key}" for key in _KEYS]})
