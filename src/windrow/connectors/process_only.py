"""Sources that only this process reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from windrow.connectors.contract import Source
from windrow.errors import UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from windrow.schema import StreamSchema

__all__ = ["ProcessOnlySource"]


class ProcessOnlySource(Source):
    """Refused on Spark before anything runs."""

    def check_on_spark(self, schema: StreamSchema) -> None:
        """Refuses it: Spark has no such source."""
        raise self._not_on_spark(schema)

    def read_on_spark(self, spark: SparkSession, schema: StreamSchema) -> DataFrame:
        """Refuses it."""
        raise self._not_on_spark(schema)

    def _not_on_spark(self, schema: StreamSchema) -> UnsupportedError:
        return UnsupportedError(
            "WU871",
            f"stream {schema.name!r} cannot be read from {self.shown} on Spark",
            hint="run the script in this process: windrow run --embedded",
            place=self.place,
        )
