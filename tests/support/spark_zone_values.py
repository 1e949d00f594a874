"""What Spark says of times in several zones: expressions of constants, kept in zone_values.json.

`python -m support.spark_zone_values` asks a local Spark again, for the expressions in the file. A
value is the text of CAST(... AS STRING) for times, that of Python for others; errors are "error".
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

VALUES = Path(__file__).parent / "function_cases" / "zone_values.json"
Zones = dict[str, dict[str, list[str | None]]]


def zone_values() -> Zones:
    """By zone and expression, Spark's type and value."""
    found: Zones = json.loads(VALUES.read_text("utf-8"))
    return found


def ask_spark(spark: Any, zone: str, text: str) -> list[str | None]:
    """The type and the value of one expression."""
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        found = spark.sql(f"SELECT {text} AS v")
        kind = found.schema[0].dataType.simpleString()
        if any(word in kind for word in ("interval", "timestamp", "date")):
            found = spark.sql(f"SELECT CAST(v AS STRING) AS v FROM (SELECT {text} AS v)")
        return [kind, str(found.collect()[0][0])]
    except Exception:
        return ["error", None]


def main() -> None:
    """Asks a Spark of its own."""
    from windrow.spark.settings import local_session  # noqa: PLC0415

    spark = local_session(cores=1)
    try:
        asked = {
            zone: {text: ask_spark(spark, zone, text) for text in cases}
            for zone, cases in zone_values().items()
        }
    finally:
        spark.stop()
    zones = []
    for zone, cases in asked.items():
        lines = (
            f"{json.dumps(text)}: {json.dumps(value, ensure_ascii=False)}"
            for text, value in cases.items()
        )
        zones.append(f"{json.dumps(zone)}: {{\n" + ",\n".join(lines) + "\n}")
    VALUES.write_text("{\n" + ",\n".join(zones) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
