"""Values of a streaming DataFrame as Arrow carries them: times as such, months as numbers."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import YearMonthIntervalType

from windrow.errors import UnsupportedError
from windrow.schema import StreamSchema

__all__ = ["with_instants"]

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000}
# Times further away are no times of rows: they are NULL, and set aside as such.
_MOST_SECONDS = 10**11


def with_instants(frame: DataFrame, schema: StreamSchema) -> DataFrame:
    """The frame with its time column as timestamps, where the stream has a unit for numbers.

    Intervals of months become numbers, as columns of that type hold them.
    """
    frame = _with_months(frame, schema)
    unit = schema.options.unit
    numbers = ("tinyint", "smallint", "int", "bigint", "float", "double")
    if unit is None or dict(frame.dtypes).get(schema.time) not in numbers:
        return frame
    name = schema.time.replace("`", "``")
    return frame.withColumn(schema.time, _instant(frame[f"`{name}`"], unit))


def _with_months(frame: DataFrame, schema: StreamSchema) -> DataFrame:
    for field in frame.schema:
        kind = field.dataType
        if isinstance(kind, YearMonthIntervalType):
            value = frame[f"`{field.name.replace('`', '``')}`"]
            months = sql.extract(sql.lit("YEAR"), value) * 12
            months += sql.extract(sql.lit("MONTH"), value)
            frame = frame.withColumn(field.name, months.cast("int"))
        elif "interval year" in kind.simpleString() or "interval month" in kind.simpleString():
            raise UnsupportedError(
                "WU724",
                f"column {field.name!r} of stream {schema.name!r} has months within "
                f"{kind.simpleString()}, which Spark does not give to Python",
                hint="select the months as a number of their own, or drop the column",
            )
    return frame


def _instant(number: Column, unit: str) -> Column:
    if unit == "ns":
        # In whole numbers: a double has not enough digits for nanoseconds.
        number = number.cast("bigint")
        number, unit = (number - sql.pmod(number, sql.lit(1_000))) / 1_000, "us"
    per_second = _PER_SECOND[unit]
    micros = sql.round(number * (1_000_000 // per_second)).cast("bigint")
    is_near = sql.abs(number) < sql.lit(_MOST_SECONDS * per_second)
    return sql.when(is_near, sql.timestamp_micros(micros))
