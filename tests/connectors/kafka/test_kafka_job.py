"""A script from topic to topic, through the program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from support.servers.kafka_topics import Topics
from support.spark.stream_files import embedded, random_batches

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

COUNTS = "SELECT room, COUNT(*) AS n FROM h [8 SECONDS] GROUP BY room"
SCRIPT = """
SET checkpoint = '{checkpoint}';
CREATE STREAM h (room STRING, ts TIMESTAMP, value DOUBLE) TIME ts LATENESS 20 SECONDS
  FROM kafka('{source}', servers = '{servers}', format = 'json', bounded = TRUE,
             kafka.client.id = 'job');
CREATE QUERY counts AS {counts}
  INTO kafka('{target}', servers = '{servers}', feed = 'changes', key = 'room',
             kafka.compression.type = 'zstd');
"""


def test_a_script_reads_and_writes_topics(topics: Topics, jars: list[str], tmp_path: Path) -> None:
    rows = pa.concat_tables([batch["h"] for batch in random_batches(2, seed=31)])
    source, target = topics.name("in"), topics.name("out")
    topics.put_rows(source, rows)
    script = tmp_path / "job.wql"
    script.write_text(
        SCRIPT.format(
            checkpoint=tmp_path / "checkpoint",
            source=source,
            target=target,
            servers=topics.servers,
            counts=COUNTS,
        )
    )
    command = [sys.executable, "-m", "windrow", "run", str(script), "--jars", ",".join(jars)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    wanted, _ = embedded(COUNTS, [{"h": rows}], "20 seconds")
    records = topics.read(target)
    assert {tuple(record["key"]) for record in records} == {("room",)}
    shown = [record["value"] for record in records]
    changes = [{**row, "at": f"{row['at']:%FT%T.%fZ}"} for row in wanted.changes().to_pylist()]
    assert sorted(shown, key=repr) == sorted(changes, key=repr)
