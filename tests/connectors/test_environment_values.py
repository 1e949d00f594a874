"""env('NAME') in the brackets of a source or sink: what a script must not hold."""

from __future__ import annotations

import pytest

from windrow.connectors.registry import sink_named, source_named
from windrow.errors import BindingError, QuerySyntaxError
from windrow.sql.endpoints import print_endpoint
from windrow.sql.script import parse_script
from windrow.sql.statements import CreateQuery, CreateStream, Endpoint

SECRET = "postgresql://windrow:hunter2@localhost/building"


def sink_of(text: str) -> Endpoint:
    (statement,) = parse_script(f"CREATE QUERY q AS SELECT COUNT(*) AS n FROM s [1] INTO {text}")
    assert isinstance(statement, CreateQuery)
    assert statement.sink is not None
    return statement.sink


def source_of(text: str) -> Endpoint:
    (statement,) = parse_script(f"CREATE STREAM s (ts TIMESTAMP) TIME ts FROM {text}")
    assert isinstance(statement, CreateStream)
    assert statement.source is not None
    return statement.source


def test_a_sink_gets_what_the_environment_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUILDING_URL", SECRET)
    given = sink_of("postgres('hot', url = env('BUILDING_URL'))")
    assert sink_named(given) == sink_named(sink_of(f"postgres('hot', url = '{SECRET}')"))
    assert print_endpoint(given) == "postgres('hot', url = env('BUILDING_URL'))"


def test_a_value_without_a_name_may_come_from_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWS", "rows.parquet")
    assert source_named(source_of("parquet(env('ROWS'))")).shown == "parquet('rows.parquet')"


def test_an_option_may_be_called_env() -> None:
    with pytest.raises(BindingError, match=r"WB507.*no option 'env'"):
        source_named(source_of("parquet('x', env = 'y')"))


def test_one_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUILDING_URL", raising=False)
    with pytest.raises(BindingError, match=r"WB508.*needs BUILDING_URL(.|\n)*export BUILDING_URL"):
        sink_named(sink_of("postgres('hot', url = env('BUILDING_URL'))"))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("kafka('t', servers = 's', bounded = env('SECRET'))", "WB503"),
        ("kafka('t', servers = 's', time_from = env('SECRET'))", "WB505"),
    ],
)
def test_no_error_repeats_it(text: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "hunter2")
    with pytest.raises(BindingError, match=rf"{code}.*env\('SECRET'\)") as raised:
        source_named(source_of(text))
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("text", ["parquet(env())", "parquet(env(3))", "parquet(env('A', 'B'))"])
def test_it_takes_one_name(text: str) -> None:
    with pytest.raises(QuerySyntaxError):
        source_of(text)
