"""The writer that gives each batch to a user's function as a DataFrame of Spark."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from windrow.connectors.contract import Writer
from windrow.connectors.functions.connector import ForeachBatch
from windrow.connectors.functions.writers import named_failures

__all__ = ["BatchWriter"]


class BatchWriter(Writer):
    """Calls the function with one feed and the batch id, unless the batch has no rows."""

    def __init__(self, sink: ForeachBatch) -> None:
        self._spark = SparkSession.active()
        self._function = sink.function
        self.feeds: tuple[str, ...] = (sink.feed,)

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Makes the DataFrame and calls the function."""
        rows = tables[self.feeds[0]]
        if not rows.num_rows:
            return
        # A time without a zone stays one, whatever the session takes timestamps for.
        schema = from_arrow_schema(rows.schema, prefer_timestamp_ntz=True)
        with named_failures(batch_id):
            self._function(self._spark.createDataFrame(rows, schema), batch_id)
