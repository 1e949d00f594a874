"""Every snippet of README and docs: Python runs, queries parse, commands and links exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from windrow.cli import app
from windrow.sql import parse_script

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
MAKE_TARGET = re.compile(r"^([a-z-]+):", re.M)


def blocks(page: Path, *languages: str) -> list[tuple[int, str]]:
    """The fenced blocks of a page with their line, so that a traceback points at them."""
    text = page.read_text(encoding="utf-8")
    return [
        (text[: match.start()].count("\n") + 1, match[2])
        for match in FENCE.finditer(text)
        if match[1] in languages
    ]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def pages_with(*languages: str) -> list[object]:
    return [pytest.param(page, id=name_of(page)) for page in PAGES if blocks(page, *languages)]


def needs_spark(page: Path) -> bool:
    return any("spark" in code for _, code in blocks(page, "python"))


def run_snippets(page: Path) -> None:
    namespace: dict[str, object] = {}
    for line, code in blocks(page, "python"):
        padded = "\n" * line + code
        exec(compile(padded, str(page), "exec"), namespace)


def python_pages(with_spark: bool) -> list[object]:
    pages = [page for page in PAGES if blocks(page, "python") and needs_spark(page) == with_spark]
    return [pytest.param(page, id=name_of(page)) for page in pages]


@pytest.mark.parametrize("page", python_pages(with_spark=False))
def test_python_snippets_run(page: Path) -> None:
    run_snippets(page)


@pytest.mark.spark
@pytest.mark.parametrize("page", python_pages(with_spark=True))
def test_python_snippets_run_on_spark(page: Path) -> None:
    # Other tests of this run may share the session, which is why nobody stops it here.
    settings = pytest.importorskip("windrow.spark.settings")
    settings.local_session(cores=2)
    run_snippets(page)


@pytest.mark.parametrize("page", pages_with("sql", "wql"))
def test_queries_parse(page: Path) -> None:
    for _, text in blocks(page, "sql", "wql"):
        assert parse_script(text)


def commands(page: Path) -> list[list[str]]:
    lines = [line for _, text in blocks(page, "sh") for line in text.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.strip()]


@pytest.mark.parametrize("page", pages_with("sh"))
def test_commands_exist(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.wql").write_text("SELECT 1", encoding="utf-8")
    targets = MAKE_TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8"))
    for words in commands(page):
        if words[0] == "windrow":
            check_command(words[1:])
        else:
            assert words[0] == "pip" or (words[0] == "make" and words[1] in targets), words


def check_command(words: list[str]) -> None:
    """Parses the command as the program would, without running it."""
    group = get_command(app)
    if words[0].startswith("-"):
        assert words == ["--version"]
        return
    command = group.commands[words[0]]
    command.make_context(words[0], words[1:]).close()


@pytest.mark.parametrize("page", [pytest.param(page, id=name_of(page)) for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_every_code_is_listed_once() -> None:
    raised = {
        code
        for source in (ROOT / "src").rglob("*.py")
        for code in re.findall(r'"(W[SBUADCX]\d{3})"', source.read_text(encoding="utf-8"))
    }
    page = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (W[SBUADCX]\d{3}) \|", page, re.M)
    assert sorted(listed) == sorted(raised)


def test_a_wrong_command_is_found() -> None:
    with pytest.raises(Exception, match="No such option"):
        check_command(["demo", "--slow"])
    with pytest.raises(KeyError):
        check_command(["dmeo"])
