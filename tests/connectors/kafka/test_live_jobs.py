"""A script from topic to topic in this process, killed again and again."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.servers.live_topics import LiveTopics, Record, values_of

pytestmark = pytest.mark.kafka

ROWS = 20_000
SCRIPT = """
CREATE STREAM s (ts TIMESTAMP, k STRING, x BIGINT) TIME ts LATENESS 1 HOUR
  FROM kafka('{topic}', servers = '{servers}', max_offsets_per_batch = 500, bounded = TRUE);
CREATE QUERY q AS SELECT k, COUNT(*) AS n, SUM(x) AS x FROM s [10 MINUTES] GROUP BY k
  EVERY (1 MINUTE)
  INTO kafka('{into}', servers = '{servers}');
"""


def record(number: int) -> Record:
    minute, second = divmod(number // 5, 60)
    time = f"2026-01-01T{minute // 60:02}:{minute % 60:02}:{second:02}"
    return Record({"ts": time, "k": f"k{number % 5}", "x": number}, partition=number % 2)


def job(folder: Path, name: str, live_topics: LiveTopics, topic: str) -> tuple[list[str], str]:
    into = live_topics.made(name, 1)
    script = folder / f"{name}.wql"
    script.write_text(SCRIPT.format(topic=topic, into=into, servers=live_topics.servers))
    command = [sys.executable, "-m", "windrow", "run", str(script), "--embedded"]
    return [*command, "--state", str(folder / name)], into


def answers(live_topics: LiveTopics, topic: str) -> list[str]:
    return sorted(map(str, values_of(live_topics.read(topic, 1))))


def test_answers_of_a_job_that_is_killed_are_there_once(
    live_topics: LiveTopics, tmp_path: Path
) -> None:
    topic = live_topics.made("in", 2)
    live_topics.put(topic, map(record, range(ROWS)))
    whole, expected = job(tmp_path, "whole", live_topics, topic)
    begun_s = time.monotonic()
    subprocess.run(whole, check=True, stdout=subprocess.DEVNULL, timeout=120)
    whole_s = time.monotonic() - begun_s
    killed, found = job(tmp_path, "killed", live_topics, topic)
    chance, kills = random.Random(3), 0
    # Within the time that a run takes here, however fast the machine is.
    for patience_s in (*(whole_s * chance.uniform(0.4, 0.8) for _ in range(3)), 120.0):
        running = subprocess.Popen(killed, stdout=subprocess.DEVNULL)
        try:
            assert running.wait(patience_s) == 0
            break
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
            kills += 1
    assert running.returncode == 0, "it has not come to its end"
    assert kills
    assert answers(live_topics, found) == answers(live_topics, expected)
    assert len(answers(live_topics, expected)) > 300
