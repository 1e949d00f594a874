"""Rows made by the clock on Spark, to try a query out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from windrow.connectors.contract import Source
from windrow.connectors.counts import check_count
from windrow.connectors.scripted import Scripted
from windrow.errors import BindingError, Place
from windrow.schema import BIGINT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from windrow.connectors.options import Options
    from windrow.schema import StreamSchema

__all__ = ["SOURCES", "Rate"]


@dataclass(frozen=True)
class Rate(Source):
    """Rows made by the clock: the time at which each was made, and its number.

    >>> Rate(100).is_endless
    True
    """

    is_endless: ClassVar[bool] = True

    rows_per_second: int = 1
    place: Place | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_count("rows_per_second", self.rows_per_second)

    @property
    def shown(self) -> str:
        """With its pace."""
        return f"rate(rows_per_second = {self.rows_per_second})"

    def read_on_spark(self, spark: SparkSession, schema: StreamSchema) -> DataFrame:
        """Rows of Spark's own source of that name."""
        counters = [column for column in schema.columns if column.name != schema.time]
        if [column.type for column in counters] != [BIGINT]:
            raise BindingError(
                "WB443",
                f"rate() cannot generate the columns of stream {schema.name!r}",
                hint=f"give it two columns: the time {schema.time!r} and one BIGINT, which counts "
                "rows",
                place=self.place,
            )
        made = spark.readStream.format("rate").option("rowsPerSecond", self.rows_per_second).load()
        shown = {schema.time: "timestamp", counters[0].name: "value"}
        return made.select(*(made[shown[each.name]].alias(each.name) for each in schema.columns))


def _described(options: Options) -> Rate:
    return Rate(options.count("rows_per_second") or 1, options.place)


SOURCES = {"rate": Scripted(("rows_per_second",), _described)}
