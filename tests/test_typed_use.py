"""The types that users see hold for mypy --strict: right use passes, wrong use is found."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import windrow

PROGRAMS = Path(__file__).parent / "typing"
IGNORE = re.compile(r"  # type: ignore\[([\w-]+)\]")


def test_the_package_says_that_it_is_typed() -> None:
    assert Path(windrow.__file__).with_name("py.typed").is_file()


@pytest.mark.slow
def test_a_program_outside_the_package_is_checked(tmp_path: Path) -> None:
    """As users run it, in a folder of their own; `make check` reads the same programs here."""
    (tmp_path / "right.py").write_text((PROGRAMS / "right_use.py").read_text("utf-8"), "utf-8")
    wrong = (PROGRAMS / "wrong_use.py").read_text("utf-8")
    (tmp_path / "wrong.py").write_text(IGNORE.sub("", wrong), "utf-8")
    source = Path(windrow.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "right.py", "wrong.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
    )
    found = {
        (match[1], int(match[2]), match[3])
        for match in re.finditer(r"^(\w+)\.py:(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.M)
    }
    lines = enumerate(wrong.splitlines(), 1)
    marked = ((number, IGNORE.search(line)) for number, line in lines)
    assert found == {("wrong", number, match[1]) for number, match in marked if match}
