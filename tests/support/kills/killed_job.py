"""A job in one process with a state and sinks, and all that can be seen of it in the end."""

from __future__ import annotations

import hashlib
import json
import os
import random
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import windrow
from windrow.connectors.files import parquet_files, reading
from windrow.durable import session as durable_session
from windrow.durable.job import run_durable
from windrow.jobs.job import job_of

__all__ = ["SCRIPTS", "run_job", "seen", "write_job"]

BATCH_ROWS = 50
# So small that a run takes several snapshots.
SNAPSHOT_BYTES = 8_000
START_US = 1_767_225_600_000_000  # 2026-01-01
STATE, RESULTS = "state", "results.json"

STREAMS = """\
SET memory = '64 MB';
CREATE STREAM a (ts TIMESTAMP, k INT, v DOUBLE) TIME ts LATENESS 2 SECONDS
  FROM parquet('a.parquet');
CREATE STREAM b (ts TIMESTAMP, k INT) TIME ts ON BAD ROW SET ASIDE FROM csv('b.csv', header = TRUE);
CREATE TABLE rooms (k INT, name STRING, PRIMARY KEY (k)) FROM csv('rooms.csv', header = TRUE);
"""
SMALL = """\
CREATE HISTORY ON a (v) GROUP BY k LEVELS (1 SECOND FOR 20 SECONDS, 10 SECONDS FOREVER);
CREATE QUERY sums AS SELECT k, SUM(v) AS s FROM a [5 SECONDS] GROUP BY k
  INTO parquet('sums', feed = 'changes');
CREATE QUERY held AS SELECT k, SUM(v) AS s FROM a [30 SECONDS] GROUP BY k INTO memory();
"""
PLAIN = """\
CREATE HISTORY ON a (v) GROUP BY k LEVELS (1 SECOND FOR 20 SECONDS, 10 SECONDS FOREVER);
CREATE QUERY joined AS SELECT a.k, COUNT(*) AS n, SUM(a.v) AS s FROM a [30 SECONDS], b [20 SECONDS]
  WHERE a.k = b.k GROUP BY a.k EVERY (5 SECONDS) INTO parquet('joined');
CREATE QUERY largest AS SELECT MAX(v) AS v, COUNT(DISTINCT k) AS k FROM a [30 SECONDS]
  INTO parquet('largest', feed = 'changes');
CREATE QUERY top AS SELECT k, v FROM a [15 SECONDS] ORDER BY v DESC, k LIMIT 3
  INTO parquet('top', feed = 'changes');
CREATE QUERY named AS SELECT r.name, COUNT(*) AS n FROM a [30 SECONDS] JOIN rooms r ON a.k = r.k
  GROUP BY r.name INTO parquet('named', feed = 'changes');
CREATE QUERY sessions AS SELECT k, COUNT(*) AS n FROM b [SESSION 2 SECONDS PARTITION BY k]
  GROUP BY k INTO parquet('sessions', feed = 'changes');
CREATE QUERY held AS SELECT k, SUM(v) AS s FROM a [30 SECONDS] GROUP BY k INTO memory();
"""
MORE = """\
CREATE VIEW busy AS SELECT k, COUNT(*) AS n FROM a [20 SECONDS] GROUP BY k;
CREATE QUERY viewed AS SELECT SUM(n) AS n, MAX(n) AS m FROM busy
  INTO parquet('viewed', feed = 'changes');
CREATE QUERY past AS SELECT SUM(v) AS v FROM HISTORY(a) [FROM '2026-01-01' TO NOW]
  EVERY (10 SECONDS) INTO parquet('past');
CREATE QUERY about AS SELECT COUNT(*) AS n FROM a [25 SECONDS] ERROR (10%) EVERY (5 SECONDS)
  INTO parquet('about');
"""
# Of each job its script, and how many rows its larger stream has: most kills are of a small one.
SCRIPTS = {
    "small": (STREAMS + SMALL, 200),
    "plain": (STREAMS + PLAIN, 600),
    "all": (STREAMS + PLAIN + MORE, 600),
}


def write_job(folder: Path, name: str) -> None:
    """Data and script; some rows are late, some damaged."""
    script, rows = SCRIPTS[name]
    choice = random.Random(7)
    times = [
        START_US + number * 100_000 + choice.randrange(-1_500_000, 90_000) for number in range(rows)
    ]
    kind = pa.timestamp("us", tz="UTC")
    values = [None if number % 11 == 0 else choice.randrange(1_000) / 8 for number in range(rows)]
    columns = [pa.array(times, kind), pa.array([choice.randrange(6) for _ in times], pa.int32())]
    table = pa.table([*columns, pa.array(values, pa.float64())], ["ts", "k", "v"])
    pq.write_table(table, folder / "a.parquet", row_group_size=200)
    _write_texts(folder, rows // 2, choice)
    (folder / "job.wql").write_text(script)


def _write_texts(folder: Path, rows: int, choice: random.Random) -> None:
    lines = ["ts,k"]
    for number in range(rows):
        second, key = number * 0.2, "none" if number % 97 == 5 else choice.randrange(8)
        minutes, seconds = divmod(second, 60)
        lines.append(f"2026-01-01 00:{int(minutes):02}:{seconds:06.3f},{key}")
    (folder / "b.csv").write_text("\n".join(lines) + "\n")
    (folder / "rooms.csv").write_text("k,name\n0,lab\n1,hall\n2,lab\n3,cellar\n")


class _Watcher:
    """Writes down what a run that comes to its end shows."""

    def __init__(self) -> None:
        self.shown: dict[str, Any] = {}

    def ended(self, name: str, result: pa.Table) -> None:
        self.shown[name] = repr(result.to_pylist())

    def counted(self, ledger: pa.Table, bad_rows: dict[str, pa.Table]) -> None:
        self.shown["ledger"] = repr(ledger.to_pylist())
        self.shown["bad rows"] = repr({name: t.to_pylist() for name, t in bad_rows.items()})
        Path(RESULTS).write_text(json.dumps(self.shown))

    def advanced(self, *_: object) -> None:
        """Nothing is drawn."""

    answered = stood = advanced


def run_job(folder: Path) -> None:
    """Run it in this process, to its end, from where it was."""
    os.chdir(folder)
    reading.BATCH_ROWS = parquet_files.BATCH_ROWS = BATCH_ROWS
    durable_session.SNAPSHOT_BYTES = SNAPSHOT_BYTES
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_durable(job_of(Path("job.wql").read_text()), _Watcher(), STATE)  # type: ignore[arg-type]


def seen(folder: Path) -> dict[str, str]:
    """What is in the sinks, what was shown at the end, and the session that is left."""
    found = dict(json.loads((folder / RESULTS).read_text()))
    for file in sorted(folder.glob("*/*.parquet")):
        found[str(file.relative_to(folder))] = hashlib.sha256(file.read_bytes()).hexdigest()
    names = [file.name for file in folder.rglob("*")]
    found["left over"] = repr([each for each in names if each.startswith(".") or ".new" in each])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = windrow.connect(path=folder / STATE)
        _look(session, found)
        session.stop()
    return found


def _look(session: Any, found: dict[str, str]) -> None:
    for name in sorted(set(session.queries()["query"].to_pylist())):
        query = session[name]
        if not hasattr(query, "answers"):
            continue
        tables = query.result(), query.answers(), query.changes()
        found[f"query {name}"] = repr([table.to_pylist() for table in tables])
    streams = session.streams()["stream"].to_pylist()
    found["streams"] = repr([session.late(name).to_pylist() for name in streams])
    found["histories"] = repr(session.histories().drop_columns(["bytes"]).to_pylist())
    found["tables"] = repr(session.tables().drop_columns(["bytes"]).to_pylist())
    found["views"] = repr(session.views().drop_columns(["bytes"]).to_pylist())
    past = "FROM HISTORY(a) [FROM '2026-01-01' TO '2026-01-02'] GROUP BY k"
    found["past"] = repr(session.ask(f"SELECT k, SUM(v) AS v {past}").to_pylist())
