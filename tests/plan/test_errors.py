"""Every error of the planner, raised once, with its code, its place and what it says."""

from __future__ import annotations

import pytest
from sqlglot import exp

from support.binding_errors import failure, word_at
from windrow.errors import BindingError, CheckpointError, UnsupportedError, WindrowError
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.model import QueryPlan
from windrow.plan.names import NamedInput, Names
from windrow.plan.rows import row_scope
from windrow.plan.scope import MAX_DEPTH
from windrow.plan.serialise import plan_from_json, plan_to_json
from windrow.plan.windows import MAX_LENGTH_US
from windrow.schema import StreamSchema, columns_of
from windrow.sql import parse_query
from windrow.sql.statements import Select, SelectItem, Source, Window

TEMP = StreamSchema(
    "temp",
    columns_of(
        "location string, ts timestamp, celsius double, n int, price decimal(10, 2), flag boolean"
    ),
    "ts",
)
SMOKE = StreamSchema(
    "smoke", columns_of("location string, ts timestamp, strength double, k bigint"), "ts"
)
CATALOG = Catalog(TEMP, SMOKE)
JOIN = "FROM temp [10 MINUTES], smoke [ROWS 5]"
ON = "WHERE temp.location = smoke.location"
SEVEN = ", ".join(f"temp [5] AS t{i}" for i in range(7))

# text, code, the word that the caret is under, a part of the message or hint
WRONG = [
    ("SELECT COUNT(*) FROM tmp [5]", "WB201", "tmp", "did you mean temp?"),
    ("SELECT COUNT(*) FROM xyzzy [5]", "WB201", "xyzzy", "the streams are: temp, smoke"),
    ("SELECT COUNT(*) FROM temp [5], Temp [5]", "WB202", "Temp", "AS Temp2"),
    ("SELECT celsios FROM temp", "WB203", "celsios", "did you mean celsius?"),
    ("SELECT qqq FROM temp", "WB203", "qqq", "the columns are location, ts"),
    (f"SELECT COUNT(*) {JOIN} {ON} AND location = 'a'", "WB204", "location", "temp.location or"),
    ("SELECT x.n FROM temp t", "WB205", "x", "FROM names t"),
    ("SELECT temp.n FROM temp t", "WB205", "temp", "did you mean t?"),
    ("SELECT COUNT(*) FROM temp, smoke [5] " + ON, "WB210", "temp", "memory would grow"),
    ("SELECT COUNT(*) FROM temp [UNBOUNDED], smoke [5] " + ON, "WB211", None, "UNBOUNDED"),
    ("SELECT n FROM temp [PARTITION BY lokation ROWS 5]", "WB214", None, "mean location?"),
    ("SELECT n FROM temp [PARTITION BY zzz ROWS 5]", "WB214", None, "the columns are"),
    (f"SELECT COUNT(*) {JOIN} WHERE temp.location = smoke.k", "WB220", "temp", "STRING and BIGINT"),
    (
        f"SELECT COUNT(*) {JOIN} WHERE temp.location = smoke.k",
        "WB220",
        "temp",
        "CAST(temp.location AS BIGINT)",
    ),
    (
        f"SELECT COUNT(*) {JOIN} WHERE celsius = smoke.ts",
        "WB220",
        None,
        "CAST(celsius AS TIMESTAMP)",
    ),
    (f"SELECT COUNT(*) {JOIN} WHERE flag < smoke.ts", "WB220", "flag", "no CAST makes them"),
    ("SELECT COUNT(*) FROM temp, smoke [5] WHERE celsius < strength", "WB210", "temp", "grow"),
    ("SELECT STDDEV(location) FROM temp", "WB242", "location", "STDDEV_SAMP takes numbers"),
    ("SELECT VAR_POP(flag) FROM temp", "WB242", "flag", "VAR_POP takes numbers"),
    ("SELECT square(celsius) FROM temp", "WB230", "square", "no function 'square'"),
    ("SELECT square_error(celsius) FROM temp", "WB230", "square_error", "no function"),
    ("SELECT MAX(n, celsius) FROM temp", "WB231", "MAX", "takes 1 argument, but got 2"),
    ("SELECT n FROM temp WHERE location = 5", "WB220", "location", "CAST"),
    ("SELECT n FROM temp WHERE flag = 1", "WB220", "flag", "BOOLEAN and INT"),
    ("SELECT location + 1 FROM temp", "WB221", "location", "+ takes numbers"),
    ("SELECT upper(celsius) FROM temp", "WB221", "celsius", "UPPER takes text"),
    ("SELECT sqrt(location) FROM temp", "WB221", "location", "SQRT takes numbers"),
    ("SELECT n FROM temp WHERE n", "WB222", "n", "WHERE takes a condition"),
    ("SELECT n FROM temp WHERE flag AND n", "WB222", "n", "takes a condition"),
    ("SELECT COUNT(*) FROM temp HAVING 5", "WB222", "5", "HAVING takes a condition"),
    ("SELECT n FROM temp WHERE ts > 'soon'", "WB223", "'soon'", "not a timestamp"),
    ("SELECT n FROM temp WHERE DATE '2020-13-01' < ts", "WB223", None, "not a date"),
    ("SELECT n = 99999999999999999999 FROM temp", "WB225", None, "does not fit a BIGINT"),
    ("SELECT abss(n) FROM temp", "WB230", "abss", "did you mean abs?"),
    ("SELECT xyzzy(n) FROM temp", "WB230", "xyzzy", "the functions are abs"),
    ("SELECT now() FROM temp", "WB230", "now", "answers depend on rows"),
    ("SELECT ts * ts FROM temp", "WB742", None, "intervals are multiplied"),
    ("SELECT EXTRACT(EPOCH FROM ts) FROM temp", "WB743", None, "YEAR"),
    ("SELECT EXTRACT(YEAR FROM INTERVAL '1' DAY) FROM temp", "WB743", None, "DAY"),
    ("SELECT FROM_JSON(location, 'INT') FROM temp", "WB747", None, "ARRAY<INT>"),
    ("SELECT TO_JSON(celsius) FROM temp", "WB747", None, "an array"),
    ("SELECT DATE_FORMAT(ts, 'YYYY') FROM temp", "WB745", None, "yyyy-MM-dd"),
    ("SELECT TO_DATE(location, 'EEEE') FROM temp", "WB745", None, "yyyy-MM-dd"),
    (
        "SELECT COUNT(*) FROM temp WHERE window(ts, '1 minute') IS NULL",
        "WB230",
        None,
        "TUMBLE 10 MINUTES",
    ),
    ("SELECT n FROM temp WHERE \"location\" = 'a'", "WB734", None, "not the column location"),
    ('SELECT n FROM temp WHERE 5 < "n"', "WB734", '"n"', 'connect(double_quotes="name")'),
    ("SELECT to_number(location, 'x9') FROM temp", "WB736", "'x9'", "not a format of numbers"),
    ("SELECT rand() FROM temp", "WB230", "rand", "nothing is random"),
    ("SELECT mask(location, location) FROM temp", "WB730", None, "takes a constant"),
    ("SELECT location LIKE 'a' ESCAPE 'ab' FROM temp", "WB731", "'ab'", "one character"),
    ("SELECT location RLIKE '(a' FROM temp", "WB733", "'(a'", "not a regular expression"),
    ("SELECT celsius & 1 FROM temp", "WB221", "celsius", "& takes integers"),
    ("SELECT round(n, n) FROM temp", "WB232", "n", "integer literal"),
    ("SELECT round(n, FALSE) FROM temp", "WB232", "FALSE", "integer literal"),
    ("SELECT substring(location, TRUE) FROM temp", "WB221", "TRUE", "takes an integer"),
    ("SELECT round(n, 99999999999) FROM temp", "WB232", None, "integer literal"),
    ("SELECT -(-9223372036854775808) FROM temp", "WB225", None, "does not fit a BIGINT"),
    ("SELECT n = TRUE FROM temp", "WB220", None, "INT and BOOLEAN"),
    ("SELECT coalesce(n, TRUE) FROM temp", "WB220", None, "INT and BOOLEAN"),
    ("SELECT n FROM temp WHERE SUM(n) > 5", "WB240", "SUM", "HAVING"),
    ("SELECT COUNT(*) FROM temp GROUP BY SUM(n)", "WB240", "SUM", "GROUP BY"),
    ("SELECT COUNT(*) AS c FROM temp GROUP BY c", "WB240", "COUNT", "GROUP BY"),
    ("SELECT SUM(COUNT(*)) FROM temp", "WB241", "COUNT", "aggregates cannot be nested"),
    ("SELECT SUM(location) FROM temp", "WB242", "location", "SUM takes numbers"),
    ("SELECT AVG(flag) FROM temp", "WB242", "flag", "AVG takes numbers"),
    ("SELECT COUNT_IF(n) FROM temp", "WB242", "n", "COUNT_IF takes truth values"),
    ("SELECT BOOL_AND(location) FROM temp", "WB242", "location", "BOOL_AND takes truth values"),
    ("SELECT n, COUNT(*) FROM temp", "WB243", "n", "neither grouped nor aggregated"),
    ("SELECT COUNT(*) FROM temp GROUP BY n HAVING price > 1", "WB243", "price", "GROUP BY"),
    (
        "SELECT location, COUNT(*) AS n FROM temp GROUP BY location HAVING n > 1",
        "WB243",
        "n",
        "a column takes precedence over an item of that name",
    ),
    ("SELECT * FROM temp GROUP BY n", "WB244", None, "name the columns"),
    ("SELECT n FROM temp GROUP BY 1", "WB245", "1", "positions are not supported"),
    ("SELECT n, celsius AS N FROM temp", "WB250", None, "AS"),
    ("SELECT n AS Level FROM temp", "WB251", None, "Level_value"),
    ("SELECT CAST(n AS money) FROM temp", "WB110", None, "no column type"),
    ("SELECT CAST(n AS DECIMAL(40, 2)) FROM temp", "WB111", None, "38 digits"),
]
REFUSED = [
    (f"SELECT COUNT(*) FROM {SEVEN} WHERE t0.n = t6.n", "WU201", "temp"),
    ("SELECT DISTINCT COUNT(*) AS c FROM temp GROUP BY n", "WU203", "SELECT"),
    ("SELECT DISTINCT n + 1 FROM temp GROUP BY n", "WU203", "SELECT"),
    ("SELECT COUNT(DISTINCT n, celsius) FROM temp", "WU204", "COUNT"),
    ("SELECT SUM(DISTINCT n) FROM temp", "WU204", "SUM"),
    ("SELECT AVG(DISTINCT n) FROM temp", "WU204", "AVG"),
    ("SELECT COUNT_IF(DISTINCT n > 1) FROM temp", "WU204", "COUNT_IF"),
    ("SELECT STDDEV(DISTINCT n) FROM temp", "WU204", "STDDEV"),
    ("SELECT MEDIAN(n) FROM temp", "WU205", "MEDIAN"),
    ("SELECT APPROX_COUNT_DISTINCT(n) FROM temp", "WU205", None),
    ("SELECT MAX(location) FROM temp", "WU222", "location"),
    ("SELECT MIN(DISTINCT location) FROM temp", "WU222", "location"),
    ("SELECT APPROX_PERCENTILE(n, 0.5) FROM temp", "WU205", None),
    (
        "SELECT AVG(n) FROM HISTORY(temp) [FROM '2026-01-01' TO '2026-01-02' AT 1 MINUTE]",
        "WU211",
        None,
    ),
    ("SELECT celsius FROM temp [5] ERROR (2%)", "WU212", "ERROR"),
    ("SELECT COUNT(*) FROM temp [ROWS 5] ERROR (2%)", "WU212", "ERROR"),
    ("SELECT COUNT(DISTINCT celsius) FROM temp [5] ERROR (2%)", "WU212", "ERROR"),
    ("SELECT COUNT(*) FROM temp [5], smoke [5] ERROR (2%)", "WU212", "ERROR"),
    (
        "SELECT COUNT(*) AS n FROM temp [5] JOIN smoke [5] ON temp.location = smoke.location "
        "GROUP BY temp.location HAVING COUNT(*) > 1 ERROR (2%)",
        "WU212",
        "ERROR",
    ),
    ("SELECT CAST(celsius AS STRING) FROM temp", "WU217", None),
    ("SELECT CAST(ts AS BOOLEAN) FROM temp", "WU217", None),
    ("SELECT ts + MAKE_INTERVAL(1, 0, 0, 1) FROM temp", "WU740", None),
    ("SELECT location RLIKE 'a(?=b)' FROM temp", "WU732", "'a(?=b)'"),
    (r"SELECT location RLIKE '(a)\\1' FROM temp", "WU732", None),
    ("SELECT regexp_count(location, 'a*+') FROM temp", "WU732", "'a*+'"),
    (f"SELECT MAX(IF(price < k, 1, 2)) {JOIN} {ON}", "WU220", None),
]


def failure_of(text: str) -> WindrowError:
    return failure(lambda: bind(parse_query(text), CATALOG))


@pytest.mark.parametrize(("text", "code", "word", "said"), WRONG)
def test_what_is_wrong_is_said_and_shown(text: str, code: str, word: str | None, said: str) -> None:
    error = failure_of(text)
    assert isinstance(error, BindingError)
    assert error.code == code
    assert said in str(error)
    assert word is None or word_at(error) == word
    assert error.place is not None


@pytest.mark.parametrize(("text", "code", "word"), REFUSED)
def test_what_does_not_run_yet_is_refused(text: str, code: str, word: str | None) -> None:
    error = failure_of(text)
    assert isinstance(error, UnsupportedError)
    assert error.code == code
    assert "is not supported yet" in error.message
    assert word is None or word_at(error) == word
    assert error.place is not None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT APPROX_PERCENTILE(n, 0.5) FROM temp", "APPROX_PERCENTILE over a window"),
        ("SELECT APPROX_COUNT_DISTINCT(n) FROM temp", "FROM HISTORY(...)"),
    ],
)
def test_a_refusal_says_what_runs_instead(text: str, said: str) -> None:
    assert said in str(failure_of(text))


def test_algorithms() -> None:
    select = parse_query("SELECT COUNT(*) FROM temp [5]")
    with pytest.raises(BindingError, match=r"pipelined") as wrong:
        bind(select, CATALOG, "pipeline")
    assert wrong.value.code == "WB252"
    with pytest.raises(BindingError, match="use one of auto, pipelined"):
        bind(select, CATALOG, "zzzzzzzz")


def test_a_stream_is_declared_once() -> None:
    with pytest.raises(BindingError, match="WB200"):
        CATALOG.with_stream(StreamSchema("TEMP", TEMP.columns, "ts"))


# The front end refuses the following itself; the binder must not rely on it.


def by_hand(window: Window, expression: exp.Expression, every_us: int | None = None) -> Select:
    source = Source("temp", "temp", window)
    return Select("", (SelectItem(expression, None),), (source,), every_us=every_us)


@pytest.mark.parametrize(
    ("window", "code"),
    [
        (Window("slide", 10, 3), "WB212"),
        (Window("slide", 10, 5), "WB213"),
        (Window("time", MAX_LENGTH_US + 1), "WB215"),
        (Window("rows"), "WB216"),
        (Window("slide", 10, 0), "WB216"),
    ],
)
def test_windows_that_cannot_be(window: Window, code: str) -> None:
    with pytest.raises(BindingError) as caught:
        bind(by_hand(window, exp.column("n"), every_us=4), CATALOG)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("node", "code"),
    [
        (exp.Abs(), "WB231"),
        (exp.Round(), "WB231"),
        (exp.Sum(), "WB231"),
        (exp.Count(this=exp.column("n"), expressions=[exp.column("n")]), "WB231"),
        (exp.Star() + 1, "WB244"),
        (exp.column("ts") + exp.Interval(this=exp.Literal.string("1")), "WB741"),
        (exp.Interval(this=exp.Literal.string("1")), "WB741"),
        (exp.Window(this=exp.Sum(this=exp.column("n"))), "WU218"),
        (exp.Subquery(this=exp.select("n")), "WU207"),
        (exp.In(this=exp.column("n"), query=exp.Subquery(this=exp.select("n"))), "WU207"),
        (exp.Placeholder(), "WU221"),
        (exp.column("n", table="temp", db="other"), "WB205"),
    ],
)
def test_nodes_that_are_not_of_the_language(node: exp.Expression, code: str) -> None:
    with pytest.raises(WindrowError) as caught:
        bind(by_hand(Window("time", 10), node), CATALOG)
    assert caught.value.code == code


def test_depth_is_bounded() -> None:
    node: exp.Expression = exp.column("n")
    for _ in range(MAX_DEPTH):
        node = exp.Neg(this=node)
    scope = row_scope(Names("", (NamedInput("temp", TEMP, 0),)), "SELECT")
    with pytest.raises(BindingError) as caught:
        scope.bind(node)
    assert caught.value.code == "WB253"


def test_texts_that_are_not_plans() -> None:
    plan = bind(parse_query("SELECT n + 1 FROM temp"), CATALOG)
    assert isinstance(plan, QueryPlan)
    good = plan_to_json(plan)
    for bad in ("", "{}", "[]", "3", good.replace('"+"', '"system"'), '{"format":4,"plan":3}'):
        with pytest.raises(CheckpointError) as caught:
            plan_from_json(bad)
        assert caught.value.code == "WC201"
    with pytest.raises(CheckpointError) as newer:
        plan_from_json(good.replace('"format":4', '"format":5'))
    assert newer.value.code == "WC202"
