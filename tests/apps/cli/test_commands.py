"""The program: which commands it has, how light it starts, and what its help shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.command_line import environment, windrow
from windrow.apps.cli import app
from windrow.apps.cli.commands import COMMANDS, loaded

WRONG_USAGE = 2
SUMMARY_WIDTH = 66  # what stays beside the names on a terminal of 80 columns
HEAVY = {"numba", "sqlglot", "pandas", "pyarrow.dataset", "highspy", "matplotlib"}
HEAVY |= {"pyspark", "starlette", "uvicorn", "prompt_toolkit"}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_summary_is_what_the_command_says_first(name: str) -> None:
    assert loaded(name).help.splitlines()[0] == COMMANDS[name]
    assert len(COMMANDS[name]) <= SUMMARY_WIDTH


def each_command() -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for name in COMMANDS:
        inner = getattr(loaded(name), "commands", {})
        found += [(name, each) for each in inner] or [(name,)]
    return found


@pytest.mark.parametrize("words", each_command(), ids=" ".join)
def test_every_help_has_examples(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, [*words, "--help"])
    assert done.exit_code == 0
    shown = " ".join(done.stdout.split())
    assert f"windrow {' '.join(words)}" in shown.partition("Example")[2]
    assert "<bool>" not in shown  # flags take no value


@pytest.mark.parametrize("words", [[], ["bench"]], ids=" ".join)
def test_the_help_of_many_commands_has_examples_too(words: list[str]) -> None:
    shown = CliRunner().invoke(app, [*words, "-h"]).stdout
    assert f"$ {' '.join(['windrow', *words])} " in shown.partition("Examples:")[2]
    assert "<bool>" not in shown


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_program_starts_light(option: str) -> None:
    code = (
        f"import sys; sys.argv = ['windrow', {option!r}]\n"
        "from windrow.apps.cli import main\n"
        "try: main()\n"
        f"finally: sys.stderr.write(' '.join({HEAVY!r} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "windrow" in done.stdout


def test_an_unknown_command_is_wrong_usage(tmp_path: Path) -> None:
    done = windrow("dmeo", folder=tmp_path)
    assert (done.returncode, done.stdout) == (WRONG_USAGE, "")
    assert "Did you mean 'demo'?" in done.stderr
