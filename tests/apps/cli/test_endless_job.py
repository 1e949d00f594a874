"""A job whose source has no end runs until it is interrupted."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

SCRIPT = """
SET checkpoint = '{folder}/state';
CREATE STREAM r (ts TIMESTAMP, n BIGINT) TIME ts FROM rate(rows_per_second = 50);
CREATE QUERY counts AS SELECT COUNT(*) AS n FROM r [1 MINUTE] EVERY (1 SECOND) INTO console();
"""


@pytest.mark.long_spark
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)],
)
def test_a_job_without_an_end_is_interrupted(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    script = tmp_path / "job.wql"
    script.write_text(SCRIPT.format(folder=tmp_path))
    command = [sys.executable, "-m", "windrow", "run", str(script), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        answers = 0
        for line in running.stdout:
            answers += json.loads(line)["event"] == "answer"
            if answers == 3:
                running.send_signal(number)
                break
        _, errors = running.communicate()
    assert answers == 3, errors.decode()
    assert running.returncode == code, errors.decode()
    assert (b"Interrupted." in errors) == (code == 130)
    # What was given to the sink was committed: nothing is run again.
    state = tmp_path / "state" / "counts"
    saved = sorted(int(each.stem) for each in (state / "publish").glob("*.batch"))
    commits = sorted(int(each.name) for each in (state / "spark" / "commits").glob("[0-9]*"))
    assert saved[-1] == commits[-1]
