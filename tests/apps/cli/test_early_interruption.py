"""Ctrl-C at any moment after the program has begun to load: no traceback; shells see 130."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.command_line import environment
from windrow import starting

# Raises the signal where the module of this name is first looked for.
INTERRUPTED = """
import os, runpy, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.argv, sys.orig_argv = {argv!r}, ["python", *{orig!r}]
sys.meta_path.insert(0, Finder())
{begin}
"""
SCRIPT = "from windrow.apps.cli import main; main()"
MODULE = (
    "import windrow; sys.argv[0] = windrow.__file__; runpy.run_module('windrow', None, '__main__')"
)


@pytest.mark.parametrize("module", ["numpy", "windrow.embedded.job"])
@pytest.mark.parametrize(
    ("argv", "orig", "begin"),
    [("/usr/bin/windrow", ["/usr/bin/windrow"], SCRIPT), ("-m", ["-m", "windrow"], MODULE)],
    ids=["script", "module"],
)
def test_ctrl_c_while_the_program_loads(
    module: str, argv: str, orig: list[str], begin: str, tmp_path: Path
) -> None:
    (tmp_path / "job.wql").write_text("")
    arguments = [argv, "run", "job.wql", "--embedded"]
    code = INTERRUPTED.format(module=module, argv=arguments, orig=orig, begin=begin)
    ended = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert ended.stderr == ""
    assert ended.returncode in (-signal.SIGINT, 128 + signal.SIGINT)


def test_a_program_that_imports_windrow_keeps_its_signals() -> None:
    code = "import signal, windrow; print(signal.getsignal(signal.SIGINT).__name__)"
    ended = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    assert ended.stdout == "default_int_handler\n"


@pytest.mark.parametrize(
    ("argv", "orig", "is_one"),
    [
        (["/usr/bin/windrow", "run"], ["python", "/usr/bin/windrow", "run"], True),
        (["C:\\bin/windrow.exe"], ["windrow.exe"], True),
        (["-m", "x"], ["python", "-m", "windrow", "x"], True),
        (["-m", "x"], ["python", "-m", "pytest", "windrow"], False),
        (["-c"], ["python", "-c", "import windrow"], False),
        (["/srv/windrow/job.py"], ["python", "/srv/windrow/job.py"], False),
        ([], [], False),
    ],
)
def test_which_program_it_is(
    argv: list[str], orig: list[str], is_one: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.setattr(sys, "orig_argv", orig)
    assert starting.is_program() == is_one


def test_a_handler_of_somebody_else_stays() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as of a program that runs behind
    try:
        starting.end_quietly()
        starting.raise_again()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
