"""What Spark itself can read, by its name in Spark's catalogue or by a format of Spark's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from windrow.connectors.contract import Source
from windrow.connectors.loading import loaded
from windrow.connectors.scripted import Scripted
from windrow.errors import BindingError, DataError, Place

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from windrow.connectors.options import Options
    from windrow.schema import StreamSchema
    from windrow.table_schema import TableSchema

__all__ = ["SOURCES", "SparkTable"]

_OPTION = "options."


@dataclass(frozen=True)
class SparkTable(Source):
    """A table: its rows are read once, when a query starts. A stream: rows as they are added.

    name: in Spark's catalogue; with a format a path, or with 'jdbc' a table of the database.
    options: as Spark's reader takes them.

    >>> SparkTable("building.rooms").shown
    "spark_table('building.rooms')"
    """

    name: str
    format: str = ""
    options: Mapping[str, str] = field(default_factory=dict, repr=False)  # may have passwords
    place: Place | None = field(default=None, compare=False)

    @property
    def is_endless(self) -> bool:
        """Whether it waits for rows: it reads what is there."""
        return False

    @property
    def shown(self) -> str:
        """The name, without options: these may have passwords."""
        return f"spark_table({self.name!r})"

    def read_on_spark(self, spark: SparkSession, schema: StreamSchema) -> DataFrame:
        """Rows that are added, from those that are there on."""
        reader = spark.readStream.options(**self.options)
        if not self.format:
            return self._columns(lambda: reader.table(self.name), schema)
        return self._columns(lambda: reader.format(self.format).load(self.name), schema)

    def read_table_on_spark(
        self, spark: SparkSession, schema: TableSchema
    ) -> tuple[DataFrame, str | None]:
        """The rows that are there."""
        reader = spark.read.options(**self.options)
        if not self.format:
            return self._columns(lambda: reader.table(self.name), schema), None
        reader = reader.format(self.format)
        if self.format.lower() == "jdbc":
            reader = reader.option("dbtable", self.name)
            return self._columns(reader.load, schema), None
        return self._columns(lambda: reader.load(self.name), schema), None

    def _columns(self, read: Callable[[], DataFrame], schema: StreamSchema) -> DataFrame:
        """Those that are declared, which Spark's must have, in whatever case; in their types."""
        errors: Any = loaded("spark_failures")
        try:
            rows = read()
        except errors.FAILURES as problem:
            raise DataError(
                "WD882",
                f"Spark cannot read {self.shown}: {errors.said(problem, self.options)}",
                hint="correct the name, the format and the options, and give Spark what reads it "
                "by --jars or --packages",
                place=self.place,
            ) from None
        known = {name.lower(): name for name in rows.columns}
        missing = [each.name for each in schema.columns if each.name.lower() not in known]
        if missing:
            raise BindingError(
                "WB719",
                f"{self.shown} has no column {missing[0]!r}",
                hint=f"its columns are {', '.join(rows.columns)}",
                place=self.place,
            )
        types = loaded("spark_columns").spark_type
        return rows.select(
            *(
                rows[known[each.name.lower()]].cast(types(each.type)).alias(each.name)
                for each in schema.columns
            )
        )


def _described(options: Options) -> SparkTable:
    format_ = options.text("format", "")
    given = options.beginning(_OPTION).items()
    named = {name.removeprefix(_OPTION): value for name, value in given}
    return SparkTable(options.text("name"), format_, named, options.place)


SOURCES = {"spark_table": Scripted(("name", "format", f"{_OPTION}*"), _described)}
