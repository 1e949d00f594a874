"""From nothing to the first answer: CPU seconds of new processes, Python's own start included.

python benchmarks/start.py [rounds]: medians of so many processes each. Warm: compiled kernels are
in a cache, which a run before has filled; cold: the cache is empty. The baseline, in the same run,
is a process that imports NumPy and PyArrow. Where pandas is installed, PyArrow imports it for the
first array that it makes; `no pandas` is measured as if it were not. Bytecode is there, as pip
leaves it. Answers are checked.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from process_tree import machine

ROUNDS = 5
COLD_ROUNDS = 3
# The text of a query, its streams, and what it answers over ten rows a second apart.
FORMS = {
    "COUNT and SUM over a join of two windows": (
        "SELECT COUNT(*) AS n, SUM(a.v) AS s FROM a [60 SECONDS], b [60 SECONDS] WHERE a.k = b.k",
        {"a": "ts timestamp, k bigint, v bigint", "b": "ts timestamp, k bigint, v bigint"},
        [{"n": 34, "s": 153}],
    ),
    "AVG of one window by a text": (
        "SELECT k, AVG(v) AS m FROM a [60 SECONDS] GROUP BY k",
        {"a": "ts timestamp, k string, v double"},
        [{"k": "0", "m": 4.5}, {"k": "1", "m": 4.0}, {"k": "2", "m": 5.0}],
    ),
    "SELECT with a condition": (
        "SELECT k, v FROM a [60 SECONDS] WHERE v > 7",
        {"a": "ts timestamp, k bigint, v double"},
        [{"k": 2, "v": 8.0}, {"k": 0, "v": 9.0}],
    ),
    "MAX over a query with GROUP BY": (
        "SELECT MAX(n) AS m FROM (SELECT k, COUNT(*) AS n FROM a [60 SECONDS] GROUP BY k) AS g",
        {"a": "ts timestamp, k bigint, v bigint"},
        [{"m": 4}],
    ),
}
BEGIN = """
import sys, time
class NoPandas:
    def find_spec(self, name, path=None, target=None):
        if {alone} and name == "pandas":
            raise ImportError(name)
sys.meta_path.insert(0, NoPandas())
"""
END = "\nprint(time.process_time())\n"
BASELINE = BEGIN + "import numpy, pyarrow" + END
IMPORT = BEGIN + "import windrow" + END
ANSWER = (
    BEGIN
    + """
import windrow
session = windrow.connect()
for name, columns in {streams!r}.items():
    session.stream(name, columns, time="ts")
query = session.query({text!r})
kinds = {{"bigint": int, "double": float, "string": str}}
for name, columns in {streams!r}.items():
    key, value = (kinds[each.split()[1]] for each in columns.split(", ")[1:])
    if {arrow}:
        import pyarrow as pa
        with pa.memory_map({files!r}[name]) as file:
            rows = pa.ipc.open_file(file).read_all()
    else:
        rows = [
            {{"ts": f"2026-01-01 00:00:0{{i}}", "k": key(i % 3), "v": value(i)}} for i in range(10)
        ]
    session.push(name, rows)
session.finish()
found = query.result()
"""
    + "spent = time.process_time()\n"
    + "shown = sorted(map(repr, found.to_pylist()))\n"
    + "assert shown == sorted(map(repr, {expected!r})), shown\nprint(spent)\n"
)


def main() -> None:
    """Prints a table, and the figures as JSON."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        found = measured(Path(folder), rounds)
    print(f"{'':55}{'warm':>8}{'no pandas':>11}{'cold':>8}")
    for name, figures in found.items():
        shown = "".join(f"{figures[key]:{width}.2f}" for key, width in columns_of(figures))
        print(f"{name:55}{shown}")
    print(json.dumps({"machine": machine(), "rounds": rounds, "cpu_seconds": found}))


def columns_of(figures: dict[str, float]) -> list[tuple[str, int]]:
    """What a row of the table has, and how wide."""
    return [(key, width) for key, width in (("warm", 8), ("no_pandas", 11), ("cold", 8))
            if key in figures]  # fmt: skip


def measured(folder: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Medians by what is measured; kinds of rounds take turns."""
    found = {}
    for name, code in (("import numpy, pyarrow", BASELINE), ("import windrow", IMPORT)):
        runs = [cpu_seconds(code.format(alone=False), folder) for _ in range(rounds)]
        found[name] = {"warm": statistics.median(runs)}
    for name, (text, streams, expected) in FORMS.items():
        files = {stream: written(folder, stream, columns) for stream, columns in streams.items()}
        for way in ("dicts", "Arrow"):
            parts = {"streams": streams, "text": text, "expected": expected, "files": files}
            found[f"{name}, {way}"] = answered(folder, rounds, arrow=way == "Arrow", **parts)
    return found


def answered(folder: Path, rounds: int, **parts: object) -> dict[str, float]:
    """The first answer of a query, with a full cache and with an empty one."""
    warm, alone = (ANSWER.format(alone=each, **parts) for each in (False, True))
    full = folder / "full"
    cpu_seconds(warm, full)
    runs = [(cpu_seconds(warm, full), cpu_seconds(alone, full)) for _ in range(rounds)]
    cold = []
    for _ in range(COLD_ROUNDS):
        with tempfile.TemporaryDirectory() as empty:
            cold.append(cpu_seconds(warm, Path(empty)))
    medians = [statistics.median(each) for each in (*zip(*runs, strict=True), cold)]
    return dict(zip(("warm", "no_pandas", "cold"), medians, strict=True))


def cpu_seconds(code: str, cache: Path) -> float:
    """What a new process says that it took."""
    set_here = {"NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **set_here}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def written(folder: Path, stream: str, columns: str) -> str:
    """A file with the stream's ten rows, in Arrow's format."""
    path = folder / f"{stream}.arrow"
    code = (
        "import pyarrow as pa, sys\n"
        "names = [each.split()[1] for each in sys.argv[2].split(', ')[1:]]\n"
        "kinds = [dict(bigint=int, double=float, string=str)[each] for each in names]\n"
        "ts = pa.array(range(1767225600, 1767225610)).cast('timestamp[s]').cast('timestamp[us]')\n"
        "k, v = [kinds[0](i % 3) for i in range(10)], [kinds[1](i) for i in range(10)]\n"
        "table = pa.table({'ts': ts, 'k': k, 'v': v})\n"
        "with pa.ipc.new_file(sys.argv[1], table.schema) as file:\n"
        "    file.write_table(table)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path), columns], check=True)
    return str(path)


if __name__ == "__main__":
    main()
