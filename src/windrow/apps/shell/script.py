"""A script in a shell: its statements one after the other, as if they were typed."""

from __future__ import annotations

from pathlib import Path

from windrow.apps.shell.desk import Desk
from windrow.apps.shell.statements import run_parsed
from windrow.jobs.script_file import read_script
from windrow.sql import parse_script
from windrow.sql.statements import Select

__all__ = ["run_script"]


def run_script(desk: Desk, path: Path) -> None:
    """Runs all statements; an error ends it, and what was declared before stays.

    Files are read when all is declared that comes before a SELECT, and so once for all queries.
    """
    try:
        for statement in parse_script(read_script(path)):
            desk.bench.hold(not isinstance(statement, Select))
            run_parsed(desk, statement)
    finally:
        desk.bench.hold(False)
