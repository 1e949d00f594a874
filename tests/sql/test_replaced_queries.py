"""REPLACE QUERY and CREATE OR REPLACE QUERY as statements, and in scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from windrow.embedded.job import run_embedded
from windrow.errors import BindingError, QuerySyntaxError
from windrow.jobs.job import job_of
from windrow.jobs.watcher import JobWatcher
from windrow.sql import parse_statement
from windrow.sql.printer import print_statement
from windrow.sql.statements import CreateQuery


class Nobody(JobWatcher):
    """Is told nothing: nothing runs."""


STREAM = "CREATE STREAM s (ts TIMESTAMP, x INT) TIME ts FROM csv('s.csv');"


@pytest.mark.parametrize("mode", ["create", "replace", "create or replace"])
def test_each_form_is_read_and_printed(mode: str) -> None:
    text = f"{mode.upper()} QUERY q AS SELECT COUNT(*) AS n FROM s [RANGE 1 MINUTE] INTO memory()"
    statement = parse_statement(text)
    assert isinstance(statement, CreateQuery)
    assert statement.mode == mode
    assert print_statement(statement) == text


@pytest.mark.parametrize("text", ["CREATE OR REPLACE VIEW v AS SELECT 1", "REPLACE STREAM s"])
def test_only_queries_are_replaced(text: str) -> None:
    with pytest.raises(QuerySyntaxError, match="QUERY"):
        parse_statement(text)


def test_the_last_one_of_a_script_holds() -> None:
    script = (
        STREAM
        + "CREATE QUERY q AS SELECT COUNT(*) AS n FROM s [1 MINUTE] INTO memory();"
        + "REPLACE QUERY q AS SELECT SUM(x) AS t FROM s [1 MINUTE];"
    )
    query = job_of(script).queries["q"]
    assert (query.text, query.mode) == ("SELECT SUM(x) AS t FROM s [1 MINUTE]", "create")
    assert query.sink.shows == "result"
    with pytest.raises(BindingError, match="WB517"):
        job_of(script + "CREATE QUERY q AS SELECT COUNT(*) AS n FROM s [1 MINUTE];")


def test_nothing_to_replace_is_refused_where_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.csv").write_text("ts,x\n2026-01-01,1\n")
    job = job_of(STREAM + "REPLACE QUERY q AS SELECT COUNT(*) AS n FROM s [1 MINUTE];")
    with pytest.raises(BindingError, match="WB530"):
        run_embedded(job, Nobody())
