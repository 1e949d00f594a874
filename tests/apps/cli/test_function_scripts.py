"""CREATE FUNCTION in scripts: what a body means, who permits Python, and what is refused where."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.command_line import events
from windrow.apps.cli import app
from windrow.apps.shell.workbench import Workbench
from windrow.dialects import translate
from windrow.errors import WindrowError
from windrow.jobs.functions import permitted_modules
from windrow.jobs.job import Job, job_of
from windrow.sql import parse_script

STREAM = "CREATE STREAM s (ts TIMESTAMP, k STRING, x INT) TIME ts FROM csv('s.csv');\n"
MODULE = """
from os import system
from os.path import join
from decimal import Decimal

def tenfold(x) -> int:
    return x * 10

def unsaid(x):
    return x

def parted(x) -> float | None:
    return None if x == 1 else x / 2

def _hidden(x) -> int:
    return x
"""
# A body and the same written out: both are run over the same rows.
BODIES = {
    "arithmetic": ("f (a INT) RETURNS INT AS a + a * 2", "f(x)", "x + x * 2"),
    "RETURN": ("f (a INT) RETURNS INT RETURN a - 1", "f(f(x))", "x - 1 - 1"),
    "a type that is wider": ("f (a DOUBLE) RETURNS DOUBLE AS a / 4", "f(x)", "x / 4"),
    "a type that is narrower": ("f (a DOUBLE) RETURNS INT AS a / 2", "f(x)", "CAST(x / 2 AS INT)"),
    "no parameters": ("f () RETURNS INT AS 7", "f() + x", "7 + x"),
    "text": ("f (a STRING, b INT) RETURNS STRING AS upper(a) || b", "f(k, x)", "upper(k) || x"),
    "a case": (
        "f (a INT) RETURNS STRING AS CASE WHEN a > 1 THEN 'much' ELSE 'little' END",
        "f(x)",
        "CASE WHEN x > 1 THEN 'much' ELSE 'little' END",
    ),
    "within a function without a name": (
        "f (y INT) RETURNS INT AS y + 1",
        "transform(array(x), y -> f(y))",
        "transform(array(x), y -> y + 1)",
    ),
    "with a function without a name, whose parameter is called the same": (
        "f (ys ARRAY<INT>, y INT) RETURNS ARRAY<INT> AS transform(ys, y -> y + 1)",
        "transform(array(x), y -> f(array(y), y)[0])",
        "transform(array(x), y -> y + 1)",
    ),
    "one in the other's body": (
        "f (ys ARRAY<INT>, a INT) RETURNS ARRAY<INT> AS transform(ys, y -> y + a)",
        "f(f(array(x), 1), x)",
        "array(x + 1 + x)",
    ),
    "fields": (
        "f (p STRUCT<a: INT, b: INT>) RETURNS INT AS p.a * p.b",
        "f(named_struct('a', x, 'b', 3))",
        "x * 3",
    ),
}
WRONG = {
    "another name": ("f (a INT) RETURNS INT AS b + 1", "WB759", "b"),
    "another table": ("f (a INT) RETURNS INT AS s.x", "WB759", "s"),
    "an aggregate": ("f (a INT) RETURNS BIGINT AS SUM(a)", "WB759", "SUM"),
    "OVER": ("f (a INT) RETURNS BIGINT AS ROW_NUMBER() OVER (ORDER BY a)", "WB759", "ROW_NUMBER"),
    "a query": ("f (a INT) RETURNS INT AS (SELECT 1)", "WB759", "("),
    "itself": ("f (a INT) RETURNS INT AS f(a)", "WB230", "f"),
    "another type": ("f (a INT) RETURNS TIMESTAMP AS array(a)", "WB758", "array"),
    "a name of the language": ("upper (a STRING) RETURNS STRING AS a", "WB755", "upper"),
    "nothing that it returns": ("f (a INT) AS a", "WS157", "f"),
    "a class": ("f AS 'com.shop.Discount'", "WS157", "f"),
    "a name twice": ("f (a INT, A INT) RETURNS INT AS a", "WS158", "A"),
    "Python, not permitted": ("f AS 'os.system' LANGUAGE PYTHON", "WU764", "f"),
    "Python without a module": ("f AS 'system' LANGUAGE PYTHON", "WU764", "f"),
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = ["2026-01-01 00:00:00,a,1", "2026-01-01 00:00:01,a,2", "2026-01-01 00:00:05,b,3"]
    Path("s.csv").write_text("ts,k,x\n" + "\n".join(rows) + "\n")
    Path("mine.py").write_text(MODULE)


def result(script: str, *options: str) -> list[dict[str, object]]:
    """The rows of the last answer of a script's one query."""
    Path("job.wql").write_text(script)
    done = CliRunner().invoke(app, ["run", "job.wql", "--embedded", "--json", *options])
    assert done.exit_code == 0, done.stderr
    answers = [event for event in events(done.stdout) if event["event"] == "answer"]
    return [event for event in answers if event["at"] == answers[-1]["at"]]


@pytest.mark.parametrize("name", BODIES)
def test_a_call_means_what_its_body_says(name: str) -> None:
    body, call, written_out = BODIES[name]
    query = "CREATE QUERY q AS SELECT {} AS n FROM s [1 MINUTE]"
    found = result(f"{STREAM}CREATE FUNCTION {body};\n{query.format(call)}")
    assert found == result(f"{STREAM}{query.format(written_out)}")
    assert len(found) == 3


def test_a_call_can_stand_wherever_an_expression_can() -> None:
    function = "CREATE FUNCTION odd (a BIGINT) RETURNS BOOLEAN AS a % 2 = 1;\n"
    text = (
        "CREATE VIEW v AS SELECT k, x FROM s [1 MINUTE] WHERE odd(x);\n"
        "CREATE QUERY q AS SELECT odd(x) AS o, COUNT(*) AS n FROM v GROUP BY odd(x) "
        "HAVING odd(COUNT(*) + 1) ORDER BY odd(x)"
    )
    (found,) = result(STREAM + function + text)
    assert (found["o"], found["n"]) == (True, 2)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_function_is_refused_at_its_place(name: str) -> None:
    body, code, word = WRONG[name]
    with pytest.raises(WindrowError) as raised:
        job_of(f"{STREAM}\nCREATE FUNCTION {body}")
    assert raised.value.code == code
    place = raised.value.place
    assert place is not None
    line = f"{STREAM}\nCREATE FUNCTION {body}".split("\n")[place.line - 1]
    assert line[place.column - 1 :].startswith(word)
    assert raised.value.hint


@pytest.mark.parametrize("call", ["f(1, 2)", "f()", "f(array(1))"])
def test_a_wrong_call_names_both_places(call: str) -> None:
    text = f"{STREAM}CREATE FUNCTION f (a INT) RETURNS INT AS a;\nSELECT {call} AS n FROM s [60]"
    with pytest.raises(WindrowError, match="WB756") as raised:
        job_of(text)
    assert raised.value.place is not None
    assert (raised.value.place.line, raised.value.place.column) == (3, 8)
    assert "f(a INT) RETURNS INT in line 2" in str(raised.value.hint)


def test_calls_that_double_at_each_level_are_refused_before_they_are_large() -> None:
    calls = "f(" * 25 + "x" + ")" * 25
    text = (
        f"{STREAM}CREATE FUNCTION f (a INT) RETURNS INT AS a + a;\nSELECT {calls} AS n FROM s [60]"
    )
    with pytest.raises(WindrowError, match="10,000"):
        job_of(text)


def test_a_name_can_be_given_once() -> None:
    function = "CREATE FUNCTION f (a INT) RETURNS INT AS a;"
    with pytest.raises(WindrowError, match="WB755"):
        job_of(f"{function}{function.replace('FUNCTION f', 'FUNCTION F')}")


@pytest.mark.parametrize(
    ("body", "n"),
    [
        ("f AS 'mine.tenfold' LANGUAGE PYTHON", 60),
        ("f (x INT) RETURNS BIGINT AS 'mine.unsaid' LANGUAGE PYTHON", 6),
        ("f RETURNS DOUBLE AS 'mine.parted' LANGUAGE PYTHON", 2.5),
        ("f AS 'mine.parted' LANGUAGE PYTHON", 2.5),
    ],
)
def test_a_permitted_function_of_python_runs(body: str, n: float) -> None:
    text = f"{STREAM}CREATE FUNCTION {body};\nCREATE QUERY q AS SELECT SUM(f(x)) AS n FROM s [60]"
    (found,) = result(text, "--functions-from", "mine.py")
    assert found["n"] == n


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("mine.system", "WB766"),  # what it imports
        ("mine.join", "WB766"),
        ("mine.Decimal", "WB766"),
        ("mine._hidden", "WB766"),
        ("mine.__builtins__", "WB766"),
        ("mine.nothing", "WB766"),
        ("mine.system.__call__", "WU764"),
        ("os.system", "WU764"),
        ("mine.unsaid", "WB767"),
    ],
)
def test_only_functions_of_the_module_itself_can_be_named(name: str, code: str) -> None:
    modules = permitted_modules(["mine.py"])
    with pytest.raises(WindrowError, match=code):
        job_of(f"CREATE FUNCTION f AS '{name}' LANGUAGE PYTHON", modules=modules)


def test_a_module_says_by_all_what_can_be_named() -> None:
    Path("mine.py").write_text("from os.path import join\n__all__ = ['join']\ndef f(x): return x\n")
    modules = permitted_modules(["mine.py"])
    job_of("CREATE FUNCTION f RETURNS STRING AS 'mine.join' LANGUAGE PYTHON", modules=modules)
    with pytest.raises(WindrowError, match="WB766"):
        job_of("CREATE FUNCTION f RETURNS INT AS 'mine.f' LANGUAGE PYTHON", modules=modules)


def test_a_script_does_not_import_anything() -> None:
    Path("trap.py").write_text("open('sprung', 'w').close()\ndef f(x) -> int: return x\n")
    Path("job.wql").write_text(f"{STREAM}CREATE FUNCTION f AS 'trap.f' LANGUAGE PYTHON;")
    for command in ("check", "explain"):
        done = CliRunner().invoke(app, [command, "job.wql", "--functions-from", "mine.py"])
        assert done.exit_code != 0
        assert "WU764" in done.stderr
    assert not Path("sprung").exists()


@pytest.mark.parametrize("module", ["no_such_module", "none.py", "broken.py"])
def test_a_module_that_cannot_be_imported_is_named(module: str) -> None:
    Path("broken.py").write_text("1 / 0")
    with pytest.raises(WindrowError, match=f"WB765.*{module}"):
        permitted_modules([module])


def test_the_shell_knows_functions_too() -> None:
    bench = Workbench(permitted_modules(["mine.py"]))
    text = (
        "CREATE STREAM s (ts TIMESTAMP, x INT) TIME ts; CREATE FUNCTION f (a INT) RETURNS INT AS "
        "a * 2; CREATE FUNCTION g AS 'mine.tenfold' LANGUAGE PYTHON;"
        "CREATE QUERY q AS SELECT SUM(g(f(x))) AS n FROM s [1 MINUTE]"
    )
    try:
        for statement in parse_script(text):
            bench.declare(statement)
        bench.session.push("s", {"ts": ["2026-01-01"], "x": [4]})
        bench.session.finish()
        assert bench.session.queries().num_rows == 1
        assert bench.outlets["q"].running.result().to_pylist() == [{"n": 80}]
    finally:
        bench.close()


def functions_of(text: str, dialect: str) -> tuple[Job, str]:
    """What becomes of a script of another system, and its notes."""
    translation = translate(text, dialect)
    notes = "; ".join(note.text for note in translation.notes)
    return job_of(translation.text, modules=permitted_modules(["mine.py"])), notes


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("flink", "CREATE TEMPORARY SYSTEM FUNCTION IF NOT EXISTS f AS 'mine.tenfold' "
         "LANGUAGE PYTHON"),
        ("spark", "CREATE OR REPLACE TEMPORARY FUNCTION f(a INT COMMENT 'x') RETURNS INT "
         "RETURN a+1"),
        ("feldera", "CREATE FUNCTION f(a VARCHAR NOT NULL) RETURNS BOOLEAN NOT NULL "
         "AS (a = 'it''s')"),
        ("feldera", "CREATE FUNCTION f(a INT) RETURNS STRING AS (CAST(a AS VARCHAR) || 'x')"),
        ("risingwave", "CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE SQL AS $$SELECT a + 1$$"),
        ("risingwave", "create function f(int, int) returns int language sql as 'select $1 + $2'"),
    ],
)  # fmt: skip
def test_functions_of_other_systems_are_read(dialect: str, text: str) -> None:
    job, notes = functions_of(text, dialect)
    assert [*job.functions] == ["f"]
    assert not notes


@pytest.mark.parametrize(
    ("dialect", "text", "note"),
    [
        ("flink", "CREATE FUNCTION f AS 'com.shop.Discount' LANGUAGE JAVA", "Java"),
        ("flink", "CREATE FUNCTION f AS 'com.shop.Discount'", "Java"),
        ("risingwave", "CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE python AS $$\nx\n$$", "code"),
        ("risingwave", "CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE rust AS $$ x $$", "Rust"),
        ("risingwave", "CREATE FUNCTION f(a INT) RETURNS INT LANGUAGE SQL AS "
         "'SELECT a FROM t'", "one"),
        ("flink", "CREATE FUNCTION f", "no body"),
    ],
)  # fmt: skip
def test_functions_that_cannot_be_read_are_noted(dialect: str, text: str, note: str) -> None:
    job, notes = functions_of(text, dialect)
    assert not job.functions
    assert note in notes
