"""What is compiled ahead is enough, and is found by a user who can write nowhere."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path

from numba.core.dispatcher import Dispatcher

import windrow
from windrow.apps.demo.building import ALARM_QUERY, LATENESS, SCHEMAS, building
from windrow.apps.terminal.warming import FORMS, warm

COUNTED = """
import windrow
session = windrow.connect()
session.stream("s", "ts timestamp, k int", time="ts")
query = session.query("SELECT COUNT(*) AS n FROM s [10 SECONDS]")
session.push("s", [{"ts": "2026-01-01 00:00:00", "k": 1}])
session.finish()
print(query.result()["n"].to_pylist())
"""


def compiled() -> set[tuple[str, str]]:
    """Every kernel of this process, with the types that it has been compiled for."""
    # By its type: a weak reference that leads nowhere cannot be asked what it is.
    kernels = [each for each in gc.get_objects() if issubclass(type(each), Dispatcher)]
    return {(repr(kernel.py_func), repr(types)) for kernel in kernels for types in kernel.overloads}


def test_the_demo_needs_nothing_that_was_not_compiled_ahead() -> None:
    assert list(warm()) == list(FORMS)
    before = compiled()
    assert len(before) > 100
    session = windrow.connect()
    for name, schema in SCHEMAS.items():
        session.stream(name, schema, time="ts", lateness=LATENESS)
    alarms = session.query(ALARM_QUERY)
    for piece in building(seed=7).slices[:8]:
        for name, rows in piece.rows.items():
            session.push(name, rows)
    assert alarms.answers().num_rows > 0
    assert compiled() - before == set()


def test_a_user_who_can_write_nowhere_but_to_the_temporary_directory(tmp_path: Path) -> None:
    """Files where folders should be stop the superuser too."""
    source = Path(windrow.__file__).parent
    package = tmp_path / "path" / "windrow"
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__", "static"))
    for folder in [package, *(each for each in package.rglob("*") if each.is_dir())]:
        (folder / "__pycache__").write_text("no folder", encoding="utf-8")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    given = {"PYTHONPATH": str(package.parent), "HOME": os.devnull, "TMPDIR": str(temporary)}
    dropped = ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    done = subprocess.run(
        [sys.executable, "-c", COUNTED], env=kept | given, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "[1]\n"), done.stderr
    (private,) = temporary.iterdir()
    assert private.stat().st_mode & 0o777 == 0o700
    assert list(private.rglob("*.nbc"))
