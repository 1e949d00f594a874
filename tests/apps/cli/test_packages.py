"""Packages for Spark that nobody can fetch: an error that says so, not a stack of Java's."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command_line import windrow

JOB = """CREATE STREAM t (ts TIMESTAMP, value BIGINT) TIME ts FROM rate();
CREATE QUERY q AS SELECT COUNT(*) AS n FROM t [1 MINUTE];
"""


@pytest.mark.long_spark
def test_a_package_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "job.wql").write_text(JOB)
    done = windrow("run", "job.wql", "--packages", "org.example:nothing:0.0", folder=tmp_path)
    assert done.returncode == 1
    assert "[WX402]" in done.stderr
    assert "org.example:nothing:0.0" in done.stderr
    assert "Traceback" not in done.stderr
