"""The snippets of the page on Kafka, run against a broker."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafka.topics import Topics, as_json

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "kafka.md"


def test_the_snippets_run(spark: SparkSession, topics: Topics, tmp_path: Path) -> None:
    readings = [
        {"location": place, "ts": f"2026-01-01T00:00:0{second}Z", "celsius": celsius}
        for second, (place, celsius) in enumerate([("attic", 50.0), ("cellar", 12.0)] * 3)
    ]
    topics.put("readings", [(as_json(reading), None) for reading in readings])
    code = "".join(re.findall(r"^```py\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S))
    assert "localhost:9092" in code
    names = {"spark": spark, "folder": tmp_path}
    exec(compile(code.replace("localhost:9092", topics.servers), str(PAGE), "exec"), names)
    session = names["session"]
    session.finish()
    session.stop()
    records = topics.read("hot")
    assert {record["key"]["location"] for record in records} == {"attic"}
    assert records[-1]["value"] == {"location": "attic", "n": 3}
