"""Every error of a question about the past, raised once, with its code and its place."""

from __future__ import annotations

import pytest

from support.binding_errors import failure, word_at
from windrow.errors import BindingError, UnsupportedError, WindrowError
from windrow.plan.catalog import Catalog
from windrow.plan.history_binder import bind_history
from windrow.plan.history_schema import declared_history
from windrow.schema import StreamSchema, columns_of
from windrow.sql import parse_query

TEMP = StreamSchema(
    "temp",
    columns_of("location string, floor int, ts timestamp, celsius double, n int, code string"),
    "ts",
)
SMOKE = StreamSchema("smoke", columns_of("location string, ts timestamp, x int"), "ts")
CATALOG = Catalog(TEMP, SMOKE)
LEVELS = [("1 second", "10 minutes"), ("1 minute", None)]
HISTORY = declared_history(
    TEMP, ["celsius", "n"], ["location", "floor"], LEVELS, ["celsius"], ["code"]
)
PAST = "HISTORY(temp) [FROM '2026-01-01' TO '2026-01-02']"
NOW = "HISTORY(temp) [FROM '2026-01-01' TO NOW]"

# text, code, the word that the caret is under, a part of the message or hint
WRONG = [
    (f"SELECT COUNT(*) FROM {PAST.replace('temp', 'tmp')}", "WB201", "tmp", "did you mean temp?"),
    (f"SELECT COUNT(*) FROM {PAST.replace('temp', 'smoke')}", "WB330", "smoke", "CREATE HISTORY"),
    ("SELECT COUNT(*) FROM temp [5]", "WB331", "temp", "HISTORY(s)"),
    (f"SELECT n, COUNT(*) FROM {PAST} GROUP BY n", "WB332", "n", "location, floor"),
    (f"SELECT COUNT(*) FROM {PAST} WHERE celsius > 5", "WB332", "celsius", "WHERE takes keys"),
    (f"SELECT COUNT(*) FROM {PAST} WHERE ts > '2026-01-01'", "WB332", "ts", "in the brackets"),
    (f"SELECT COUNT(*) FROM {PAST} HAVING n > 1", "WB332", "n", "HAVING takes keys"),
    (f"SELECT n AS m, COUNT(*) FROM {PAST} GROUP BY m", "WB332", "n", "location, floor"),
    (f"SELECT celsius FROM {PAST}", "WB332", "celsius", "the select list takes keys"),
    (f"SELECT MAX(floor) FROM {PAST}", "WB333", "floor", "its measures are celsius, n"),
    (f"SELECT COUNT(code) FROM {PAST}", "WB333", "code", "COUNT(*) counts rows"),
    (f"SELECT APPROX_PERCENTILE(n, 0.5) FROM {PAST}", "WB334", None, "quantiles=['n']"),
    (f"SELECT COUNT(DISTINCT n) FROM {PAST}", "WB334", "n", "those of code"),
    (f"SELECT APPROX_COUNT_DISTINCT(floor) FROM {PAST}", "WB334", "floor", "distincts=['floor']"),
    (f"SELECT APPROX_PERCENTILE(celsius, 2) FROM {PAST}", "WB336", "2", "from 0 to 1"),
    (f"SELECT APPROX_PERCENTILE(celsius, 'x') FROM {PAST}", "WB336", "'x'", "such as"),
    (f"SELECT COUNT(*) AS exact FROM {PAST}", "WB337", None, "exact_value"),
    (f"SELECT COUNT(*) AS n, MAX(n) AS n_low FROM {PAST}", "WB337", None, "'n_low' is a bound"),
    (f"SELECT COUNT(*) FROM {PAST} EVERY (5)", "WB338", "EVERY", "query()"),
    (f"SELECT location, COUNT(*) FROM {PAST}", "WB243", "location", "GROUP BY"),
    (f"SELECT * FROM {PAST}", "WB244", None, "name the columns"),
    (f"SELECT COUNT(*) FROM {PAST} GROUP BY 1", "WB245", "1", "positions"),
    (f"SELECT COUNT(*) FROM {PAST} WHERE locaton = 'a'", "WB203", "locaton", "mean location?"),
    (f"SELECT COUNT(*) FROM {PAST} WHERE floor", "WB222", "floor", "WHERE takes a condition"),
    (
        "SELECT COUNT(*) FROM HISTORY(temp) [FROM '2026-01-01' TO NOW AT 5 SECONDS]",
        "WB335",
        None,
        "its levels are 1 second, 1 minute",
    ),
]
REFUSED = [
    (f"SELECT COUNT(*) FROM {PAST}, smoke [5]", "WU226", "smoke"),
    (f"SELECT COUNT(*) FROM smoke [5], {PAST}", "WU226", "temp"),
    (
        f"SELECT COUNT(*) FROM {PAST} WHERE NOT EXISTS (SELECT 1 FROM smoke [5])",
        "WU226",
        "smoke",
    ),
    (f"SELECT COUNT(*) FROM {PAST} ERROR (2%)", "WU227", "ERROR"),
    (f"SELECT COUNT(*) FROM {PAST} DURATION [5, 10]", "WU227", "DURATION"),
    (f"SELECT DISTINCT location FROM {PAST} GROUP BY location", "WU228", "SELECT"),
    (f"SELECT SUM(n * 2) FROM {PAST}", "WU230", None),
    (f"SELECT SUM(2) FROM {PAST}", "WU230", "2"),
    (f"SELECT COUNT(NULL) FROM {PAST}", "WU230", None),
    (f"SELECT APPROX_PERCENTILE(celsius + 1, 0.5) FROM {PAST}", "WU230", None),
    (f"SELECT APPROX_PERCENTILE(1, 0.5) FROM {PAST}", "WU230", "1"),
    (f"SELECT SUM(DISTINCT n) FROM {PAST}", "WU204", "SUM"),
    (f"SELECT COUNT(DISTINCT n, code) FROM {PAST}", "WU204", "COUNT"),
    (f"SELECT MEDIAN(n) FROM {PAST}", "WU205", "MEDIAN"),
    (f"SELECT COUNT_IF(n > 1) FROM {PAST}", "WU205", "COUNT_IF"),
]


def failure_of(text: str, *, continuous: bool = False) -> WindrowError:
    select = parse_query(text)
    return failure(lambda: bind_history(select, CATALOG, {"temp": HISTORY}, continuous=continuous))


@pytest.mark.parametrize(("text", "code", "word", "said"), WRONG)
def test_what_is_wrong_is_said_and_shown(text: str, code: str, word: str | None, said: str) -> None:
    error = failure_of(text)
    assert isinstance(error, BindingError)
    assert error.code == code
    assert said in str(error)
    assert word is None or word_at(error) == word
    assert error.place is not None


@pytest.mark.parametrize(("text", "code", "word"), REFUSED)
def test_what_is_not_run_is_refused(text: str, code: str, word: str | None) -> None:
    error = failure_of(text)
    assert isinstance(error, UnsupportedError)
    assert error.code == code
    assert error.hint
    assert word is None or word_at(error) == word
    assert error.place is not None


def test_a_continuous_question_goes_on_to_now() -> None:
    assert failure_of(f"SELECT COUNT(*) FROM {PAST}", continuous=True).code == "WB339"
    text = f"SELECT COUNT(*) FROM {NOW.replace(']', ' AT 1 SECOND]')}"
    assert failure_of(text, continuous=True).code == "WU229"
    plan = bind_history(
        parse_query(f"SELECT COUNT(*) AS n FROM {NOW} EVERY (5)"),
        CATALOG,
        {"temp": HISTORY},
        continuous=True,
    )
    assert (plan.until_us, plan.every_us) == (None, 5_000_000)


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ({"measures": "celsius"}, "WB321", "measures=['celsius']"),
        ({"measures": 5}, "WB321", "a list of names"),
        ({"by": ["locaton"]}, "WB322", "did you mean location?"),
        ({"measures": [5]}, "WB322", "the columns are"),
        ({"quantiles": ["zzz"]}, "WB322", "quantiles names 'zzz'"),
        ({"split_above": -1}, "WB323", "at least 0"),
        ({"split_above": "many"}, "WB323", "'many'"),
        ({"levels": "1 second"}, "WB324", "pairs"),
        ({"levels": ["1 second"]}, "WB324", "pairs"),
        ({"levels": [("1 second",)]}, "WB324", "pairs"),
        ({"levels": [(None, None)]}, "WB324", "pairs"),
        ({"levels": [("a while", None)]}, "WB101", "not a length of time"),
    ],
)
def test_a_history_that_cannot_be(given: dict, code: str, said: str) -> None:
    parts = {"measures": ["n"], "by": [], "levels": LEVELS, **given}
    error = failure(lambda: declared_history(TEMP, **parts))
    assert error.code == code
    assert said in str(error)
