"""Names that are imported when they are used."""

from __future__ import annotations

import gc
import subprocess
import sys

from windrow.deferred import deferred, imported

UNSEEN = "wave"


def test_nothing_is_an_instance_before_its_module_is_there() -> None:
    sys.modules.pop(UNSEEN, None)
    error = deferred(UNSEEN, "Error")
    assert not isinstance(1, error)
    assert UNSEEN not in sys.modules
    assert isinstance(error(), error)
    assert UNSEEN in sys.modules


def test_it_stands_for_functions_classes_and_constants() -> None:
    assert deferred("math", "sqrt")(4) == 2
    assert deferred("fractions", "Fraction").from_float(0.5) == 0.5
    letters = deferred("string", "digits")
    assert (letters[1], "7" in letters, len(list(letters))) == ("1", True, 10)
    assert repr(letters) == "string.digits, imported when it is used"


def test_garbage_is_looked_for_again_after_an_import_as_before() -> None:
    was_on = gc.isenabled()
    try:
        for is_on in (True, False):
            (gc.enable if is_on else gc.disable)()
            sys.modules.pop(UNSEEN, None)
            imported(UNSEEN)
            assert gc.isenabled() == is_on
    finally:
        (gc.enable if was_on else gc.disable)()


def test_a_query_of_one_block_imports_no_more_than_it_needs() -> None:
    code = (
        "import sys, windrow\n"
        "session = windrow.connect()\n"
        "session.stream('s', 'ts timestamp, k int', time='ts')\n"
        "query = session.query('SELECT COUNT(*) AS n FROM s [10 SECONDS]')\n"
        "session.push('s', [{'ts': '2026-01-01 00:00:00', 'k': 1}])\n"
        "session.finish()\n"
        "assert query.result()['n'].to_pylist() == [1]\n"
        "apart = ('history', 'operators.relations.registry', 'operators.pairs', 'operators.tree',\n"
        "         'runtime.trees', 'governor.bounded', 'output.selects', 'rows.scalar.dates',\n"
        "         'plan.relations.algebra', 'sql.printer', 'metrics_server')\n"
        "found = [m for m in sys.modules for a in apart if m == f'windrow.{a}']\n"
        "sys.exit(' '.join(found) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
