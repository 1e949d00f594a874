"""What a connector needs is imported when it is used, and not before."""

from __future__ import annotations

import subprocess
import sys

import pytest

CLIENTS = ("pyspark", "py4j", "psycopg", "deltalake", "pyiceberg", "duckdb", "sqlite3")
SCRIPT = """
CREATE STREAM temp (ts TIMESTAMP, celsius DOUBLE) TIME ts FROM kafka('t', servers = 'h:1');
CREATE STREAM dust (ts TIMESTAMP, x BIGINT) TIME ts FROM rate();
CREATE STREAM fog (ts TIMESTAMP, x INT) TIME ts FROM mqtt('t', server = 'mqtt://h', client = 'c');
CREATE STREAM gas (ts TIMESTAMP, x INT) TIME ts FROM postgres('t', url = 'u', position = 'x');
CREATE QUERY a AS SELECT COUNT(*) AS n FROM temp [1 MINUTE] INTO postgres('t', url = 'u');
CREATE QUERY b AS SELECT COUNT(*) AS n FROM temp [1 MINUTE] INTO delta('t');
CREATE QUERY c AS SELECT COUNT(*) AS n FROM dust [1 MINUTE] INTO kafka('t', servers = 'h:1');
CREATE QUERY d AS SELECT COUNT(*) AS n FROM dust [1 MINUTE] INTO duckdb('t', path = 'x');
CREATE QUERY e AS SELECT COUNT(*) AS n FROM dust [1 MINUTE] INTO sqlite('t', path = 'x');
"""
DESCRIBING = f"from windrow.jobs.job import job_of; job_of({SCRIPT!r})"


@pytest.mark.parametrize("program", ["import windrow", DESCRIBING], ids=["import", "script"])
def test_no_client_is_imported_to_describe_a_job(program: str) -> None:
    listing = f"import sys; {program}; print([name for name in {CLIENTS} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", listing], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
