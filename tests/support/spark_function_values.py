"""What Spark says of every case: asked in one go, and kept in function_cases/golden.json.

`python -m support.spark_function_values` asks a local Spark and writes the file; each case is one
line of it: {"type": Spark's type, "values": [...]}. Errors are {}, times microseconds, dates days.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from support.function_cases import CASES
from support.function_cases.arguments import COLUMNS, ROWS, arguments

GOLDEN = Path(__file__).parent / "function_cases" / "golden.json"
ERROR: dict[str, object] = {}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FROM_STORED = {"timestamp": "timestamp_micros({0})", "date": "date_from_unix_date({0})"}


def ask_spark(spark: Any, cases: Iterable[str]) -> dict[str, dict[str, object]]:
    """The type and the values of each case, in ANSI mode and UTC."""
    from pyspark.sql import Column  # noqa: PLC0415

    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.ansi.enabled", "true")
    # A common part of two cases would be computed outside of what catches its errors.
    spark.conf.set("spark.sql.subexpressionElimination.enabled", "false")
    table = _table(spark)
    texts = list(dict.fromkeys(cases))
    tried = [Column(_tried(spark, text)).alias(f"c{place}") for place, text in enumerate(texts)]
    try:
        found = table.select(*tried)
    except Exception as error:
        raise ValueError(_unfit(table, texts, tried)) from error
    kinds = [field.dataType["v"].dataType.simpleString() for field in found.schema.fields]
    rows = found.collect()
    return {
        text: {"type": kinds[place], "values": [_encoded(row[place]) for row in rows]}
        for place, text in enumerate(texts)
    }


def _table(spark: Any) -> Any:
    """The arguments as a DataFrame; times go in as integers."""
    stored = {"timestamp": "bigint", "date": "int"}
    given = arguments()
    kinds = {name: kind for name, (kind, _) in COLUMNS.items()}
    ddl = ", ".join(f"{name} {stored.get(kind, kind)}" for name, kind in kinds.items())
    rows = [tuple(given[name][row] for name in COLUMNS) for row in range(ROWS)]
    raw = spark.createDataFrame(rows, ddl).coalesce(1)
    texts = [
        _FROM_STORED.get(kind, "{0}").format(name) + f" AS {name}" for name, kind in kinds.items()
    ]
    return raw.selectExpr(*texts)


def _tried(spark: Any, text: str) -> Any:
    """A struct with the value, which is NULL as a whole where the expression raises an error."""
    jvm = spark._jvm
    parsed = (
        spark._jsparkSession.sessionState()
        .sqlParser()
        .parseExpression(f"named_struct('v', {text})")
    )
    tried = jvm.org.apache.spark.sql.catalyst.expressions.TryEval(parsed)
    return jvm.org.apache.spark.sql.classic.ExpressionUtils.column(tried)


def _unfit(table: Any, texts: list[str], tried: list[Any]) -> str:
    for text, column in zip(texts, tried, strict=True):
        try:
            table.select(column)
        except Exception as error:
            return f"Spark refuses {text}: {error}"
    return "Spark refuses the cases together"


def _encoded(struct: Any) -> object:
    return ERROR if struct is None else encoded(struct["v"])


def encoded(value: Any) -> object:
    """A value as JSON has it."""
    if isinstance(value, datetime):
        utc = value if value.tzinfo else value.replace(tzinfo=UTC)
        return (utc - _EPOCH) // timedelta(microseconds=1)
    if isinstance(value, date):
        return value.toordinal() - _EPOCH.toordinal()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    if hasattr(value, "asDict"):
        return {name: encoded(each) for name, each in value.asDict().items()}
    if isinstance(value, dict):
        return [[encoded(key), encoded(each)] for key, each in value.items()]
    if isinstance(value, (list, tuple)):
        return [encoded(each) for each in value]
    return value


def digests() -> dict[str, str]:
    """Which arguments the golden file is of: a digest for each column."""
    return {
        name: hashlib.sha256(repr((COLUMNS[name][0], values)).encode()).hexdigest()[:12]
        for name, values in arguments().items()
    }


def golden() -> dict[str, dict[str, Any]]:
    """What Spark said, when it was asked last; {} for arguments that it was not asked with."""
    kept = json.loads(GOLDEN.read_text("utf-8"))
    found: dict[str, dict[str, Any]] = kept["cases"] if kept["columns"] == digests() else {}
    return found


def write_golden(found: dict[str, dict[str, object]]) -> None:
    """One line for each case, in the order of their texts."""
    columns = ",\n".join(f'"{name}": "{each}"' for name, each in sorted(digests().items()))
    cases = ",\n".join(
        f"{json.dumps(text)}: {json.dumps(found[text], ensure_ascii=False, separators=(',', ':'))}"
        for text in sorted(found)
    )
    text = f'{{"columns": {{\n{columns}\n}},\n"cases": {{\n{cases}\n}}}}\n'
    GOLDEN.write_text(text, "utf-8")


def main() -> None:
    """Asks a Spark of its own."""
    from windrow.spark.settings import local_session  # noqa: PLC0415

    os.environ["TZ"] = "UTC"
    time.tzset()
    spark = local_session(cores=1)
    try:
        write_golden(ask_spark(spark, CASES))
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
