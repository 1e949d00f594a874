"""Pages of the documentation, played from top to bottom in a folder of their own.

Python snippets run in one namespace. A block of `output` shows what the block before it prints: a
snippet, or commands, which are run for it. In it `...` stands for anything within a line and, on a
line by itself, for any lines. A block behind a sentence that ends with a file's name, as in
"Save this as `job.wql`:", is that file.
"""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from support.command_line import TIMEOUT_S, environment

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
FILE_NAME = re.compile(r"`([\w-]+\.\w+)`:\n\n\Z")


@dataclass(frozen=True)
class Block:
    """What stands between two fences; file: its name where it is to be saved."""

    language: str
    text: str
    line: int
    file: str | None


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(match[1], match[2], text[: match.start()].count("\n") + 1, _file(text, match.start()))
        for match in FENCE.finditer(text)
    ]


def _file(text: str, start: int) -> str | None:
    named = FILE_NAME.search(text, 0, start)
    return named[1] if named else None


def play(
    page: Path,
    folder: Path,
    language: str = "python",
    names: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """Runs the page in the folder, which is the current one; gives the names of its snippets."""
    namespace = dict(names or {})
    found = blocks_of(page)
    for block, after in zip(found, [*found[1:], None], strict=True):
        shown = after.text if after is not None and after.language == "output" else None
        if block.file is not None and block.language not in (language, "output"):
            (folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == language:
            check(page, block, run_python(page, block, namespace), shown)
        elif block.language == "sh" and shown is not None:
            check(page, block, run_commands(block, folder), shown)
    return namespace


def run_python(page: Path, block: Block, namespace: dict[str, object]) -> str:
    """What the snippet prints; lines of a traceback are those of the page."""
    printed = io.StringIO()
    code = compile("\n" * block.line + block.text, str(page), "exec")
    with redirect_stdout(printed):
        exec(code, namespace)
    return printed.getvalue()


def run_commands(block: Block, folder: Path) -> str:
    """What commands of ours print, on both channels."""
    printed = ""
    for words in commands_in(block):
        assert words[0] == "windrow", f"{words[0]} has its output shown, and is not run here"
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S,
        )
        printed += done.stdout
    return printed


def commands_in(block: Block) -> list[list[str]]:
    """The words of each line of a block of commands; of any other block, none."""
    lines = block.text.splitlines() if block.language == "sh" else []
    return [shlex.split(line, comments=True) for line in lines if line.strip()]


def check(page: Path, block: Block, printed: str, shown: str | None) -> None:
    """Fails where a page shows something else than what is printed."""
    if shown is not None and not matches(shown, printed):
        raise AssertionError(f"{page}:{block.line} prints\n{printed}\nbut the page shows\n{shown}")


def matches(shown: str, printed: str) -> bool:
    """Whether this is what was printed, `...` aside and whatever blanks end the lines."""
    parts = [_pattern(line) for line in shown.rstrip().splitlines()]
    lines = "".join(f"{line.rstrip()}\n" for line in printed.rstrip().splitlines())
    return re.fullmatch("".join(parts), lines) is not None


def _pattern(line: str) -> str:
    if line.strip() == "...":
        return r"(?:.*\n)*?"
    return re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + r"\n"
