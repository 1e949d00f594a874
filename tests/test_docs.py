"""Every snippet of README and docs: Python runs, queries parse, commands and links exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.command_line import TIMEOUT_S, environment
from support.doc_pages import FENCE, blocks_of, commands_in, matches, play
from windrow.apps.cli.commands import COMMANDS, loaded
from windrow.sql import parse_script

ROOT = Path(__file__).parents[1]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
ANCHOR = re.compile(r"\]\((?!https?:)([^)#]*)#([^)]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.M)
FILE = re.compile(r"`((?:tests|src|docs|benchmarks|requirements|examples)/[\w/.-]*)")
PICTURE = re.compile(r"!\[([^\]]*)\]")
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


def python_pages(with_spark: bool) -> list[object]:
    pages = [page for page in PAGES if blocks(page, "python") and needs_spark(page) == with_spark]
    return [pytest.param(page, id=name_of(page)) for page in pages]


@pytest.mark.parametrize("page", python_pages(with_spark=False))
def test_python_snippets_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    play(page, tmp_path)


@pytest.mark.spark
@pytest.mark.parametrize("page", python_pages(with_spark=True))
def test_python_snippets_run_on_spark(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Other tests of this run may share the session, which is why nobody stops it here.
    settings = pytest.importorskip("windrow.spark.settings")
    settings.local_session(cores=2)
    monkeypatch.chdir(tmp_path)
    play(page, tmp_path)


def test_tests_on_a_page_pass(tmp_path: Path) -> None:
    page = ROOT / "docs" / "how-to" / "testing.md"
    code = "".join(code for _, code in blocks(page, "python"))
    (tmp_path / "test_page.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_page.py"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert done.returncode == 0, done.stdout
    assert f"{code.count('def test_')} passed" in done.stdout


@pytest.mark.parametrize("page", pages_with("sql", "wql"))
def test_queries_parse(page: Path) -> None:
    for _, text in blocks(page, "sql", "wql"):
        assert parse_script(text)


def commands(page: Path) -> list[list[str]]:
    return [words for block in blocks_of(page) for words in commands_in(block)]


@pytest.mark.parametrize("page", pages_with("sh"))
def test_commands_exist(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("examples").symlink_to(ROOT / "examples")
    targets = MAKE_TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8"))
    for words in commands(page):
        for word in words:
            if word.endswith(".wql") and not Path(word).exists():
                Path(word).write_text("SELECT 1", encoding="utf-8")
        if words[0] == "windrow":
            check_command(words[1:])
        elif words[0] == "python":
            assert (ROOT / words[1]).is_file(), words
        else:
            # What Maven copies is copied by `make test-kafka`; tests/apps/console runs the curls.
            assert words[0] in ("pip", "mvn", "curl", "export", "make"), words
            assert words[0] != "make" or words[1] in targets, words


def options_of(command: object) -> list[set[str]]:
    """The ways to write each option of a command, and of those below it."""
    below = getattr(command, "commands", {}).values()
    own = [{*each.opts, *each.secondary_opts} for each in command.params]
    return own + [ways for each in below for ways in options_of(each)]


def test_the_command_line_page_has_every_option_and_no_other() -> None:
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    told = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", page)) - {"--help", "--version"}
    real = [ways for name in COMMANDS for ways in options_of(loaded(name))]
    assert told <= set().union(*real)
    options = [ways for ways in real if any(way.startswith("--") for way in ways)]
    assert [ways for ways in options if not ways & told] == []


def check_command(words: list[str]) -> None:
    """Parses the command as the program would, without running it."""
    if words[0].startswith("-"):
        assert words == ["--version"]
        return
    assert words[0] in COMMANDS, words
    command, rest = loaded(words[0]), words[1:]
    context = command.make_context(words[0], list(rest))
    while hasattr(command, "commands"):  # a group, such as bench, reads its own options only
        command, name, rest = command.commands[rest[0]], rest[0], rest[1:]
        context = command.make_context(name, list(rest), parent=context)
    context.close()


@pytest.mark.parametrize("page", [pytest.param(page, id=name_of(page)) for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", [pytest.param(page, id=name_of(page)) for page in PAGES])
def test_files_that_are_named_are_there(page: Path) -> None:
    named = FILE.findall(page.read_text(encoding="utf-8"))
    assert [file for file in named if not (ROOT / file.rstrip(".")).exists()] == []


def anchors_of(page: Path) -> set[str]:
    """The anchors that GitHub makes of the headings."""
    plain = FENCE.sub("", page.read_text(encoding="utf-8"))
    titles = [title.lower().replace(" ", "-") for title in HEADING.findall(plain)]
    return {re.sub(r"[^\w-]", "", title) for title in titles}


@pytest.mark.parametrize("page", [pytest.param(page, id=name_of(page)) for page in PAGES])
def test_links_into_a_page_find_their_heading(page: Path) -> None:
    targets = ANCHOR.findall(page.read_text(encoding="utf-8"))
    lost = [
        f"{target}#{anchor}"
        for target, anchor in targets
        if anchor not in anchors_of(page.parent / target if target else page)
    ]
    assert lost == []


@pytest.mark.parametrize("page", [pytest.param(page, id=name_of(page)) for page in PAGES])
def test_pictures_are_told_in_words(page: Path) -> None:
    # "Figure 2" says nothing to whoever cannot see it.
    told = PICTURE.findall(page.read_text(encoding="utf-8"))
    assert [words for words in told if len(words.split()) < 6] == []


def test_every_code_is_listed_once() -> None:
    raised = {
        code
        for folder in ("src", "benchmarks/papers")
        for source in (ROOT / folder).rglob("*.py")
        for code in re.findall(r'"(W[SBUADCXH]\d{3})"', source.read_text(encoding="utf-8"))
    }
    page = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (W[SBUADCXH]\d{3}) \|", page, re.M)
    assert sorted(listed) == sorted(raised)
    lines = re.findall(r"^\| W.*", page, re.M)
    assert [line for line in lines if not re.fullmatch(r"\| W\w+ (\| \S.* ){2}\|", line)] == []


def test_every_code_is_in_the_section_of_its_kind_and_in_order() -> None:
    page = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    sections = [re.findall(r"^\| (W\w\d{3}) \|", part, re.M) for part in page.split("\n## ")]
    assert [codes for codes in sections if codes != sorted(codes)] == []
    assert [codes for codes in sections if len({code[:2] for code in codes}) > 1] == []


def test_a_wrong_command_is_found() -> None:
    with pytest.raises(Exception, match="No such option"):
        check_command(["demo", "--slow"])
    with pytest.raises(Exception, match="No such option"):
        check_command(["bench", "governor", "--sead", "11"])
    with pytest.raises(AssertionError, match="dmeo"):
        check_command(["dmeo"])


def test_a_wrong_output_is_found() -> None:
    assert matches("a ... c\n...\nlast\n", "a b c\nx\ny\nlast  \n")
    assert matches("first\n...\n", "first\n")
    assert not matches("a ... c\n", "a b d\n")
    assert not matches("a\n", "a\nb\n")
    assert not matches("a\n...\nlast\n", "a\n")


def test_every_page_is_on_the_first_page() -> None:
    first = ROOT / "docs" / "README.md"
    linked = {
        (first.parent / target).resolve() for target in LINK.findall(first.read_text("utf-8"))
    }
    pages = {page.resolve() for page in (ROOT / "docs").rglob("*.md")}
    numbered = {page for page in pages if page.parent.name == "decisions"}
    assert sorted(pages - numbered - linked - {first.resolve()}) == []


def glossary_words() -> list[str]:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    table = page.partition("| --- | --- |\n")[2].partition("\n\n## ")[0]
    return [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines()]


def test_the_glossary_is_in_order_and_its_words_are_used() -> None:
    words = glossary_words()
    assert words == sorted(set(words), key=str.lower)
    pages = [page for page in PAGES if page.name != "glossary.md"]
    text = " ".join(page.read_text(encoding="utf-8") for page in pages).lower()
    single = [word for entry in words for word in entry.lower().split(", ")]
    assert [word for word in single if word not in text] == []
