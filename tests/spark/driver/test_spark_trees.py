"""Queries that are trees on Spark give what they give in one process, restarted or not."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from support.form_runners import RUNNERS, Given
from support.runners import exactly
from support.spark.spark_forms import declared
from support.spark.stream_files import Files
from support.tree_forms import CLOSING_FORMS, TREE_FORMS, WINDOW_FORMS
from windrow.plan.relations.tree_plan import TreePlan
from windrow.spark.driver.session import SparkWindrowSession

pytestmark = [pytest.mark.spark, pytest.mark.long_spark]

TREES = {
    "first-rows": "SELECT k, l, s FROM a [3 SECONDS] ORDER BY d DESC, l LIMIT 3",
    "left-join": (
        "SELECT x.k, x.n, y.m FROM (SELECT k, COUNT(*) AS n FROM a [4 SECONDS] GROUP BY k) AS x"
        " LEFT JOIN (SELECT k, MAX(l) AS m FROM b [2 SECONDS] GROUP BY k) AS y ON x.k = y.k"
    ),
    "ranked": (
        "SELECT k, l, ROW_NUMBER() OVER (PARTITION BY k ORDER BY l, ts) AS n FROM a [3 SECONDS]"
        " QUALIFY n <= 2"
    ),
    "sessions": "SELECT k, COUNT(*) AS n, SUM(l) AS t FROM a [SESSION 1 SECOND PARTITION BY k]"
    " GROUP BY k",
    "tumbling": "SELECT window_start, k, COUNT(*) AS n FROM a [TUMBLE 2 SECONDS]"
    " GROUP BY window_start, k",
    "answers-in-a-window": (
        "SELECT MAX(n) AS n FROM (SELECT COUNT(*) AS n FROM a [2 SECONDS] EVERY (1 SECOND))"
        " [5 SECONDS] EVERY (2 SECONDS)"
    ),
    "union": (
        "SELECT k, COUNT(*) AS n, SUM(l) AS t FROM (SELECT k, l FROM a [3 SECONDS] UNION ALL"
        " SELECT CAST(k AS INT), CAST(l AS BIGINT) FROM b [2 SECONDS]) AS u GROUP BY k"
    ),
    "not-in": "SELECT k, s FROM a [3 SECONDS] WHERE k NOT IN (SELECT k FROM b [2 SECONDS])",
    "of-all-rows": (
        "SELECT s, n FROM (SELECT s, COUNT(*) AS n FROM a GROUP BY s) AS q ORDER BY n DESC, s"
        " LIMIT 2"
    ),
}


@pytest.mark.parametrize("name", TREES)
def test_a_tree_gives_what_one_process_gives(
    name: str, spark: SparkSession, tmp_path: Path
) -> None:
    session = windrow.connect(spark, checkpoint=tmp_path / "checkpoint")
    try:
        declared(session, Files(spark, tmp_path / "in"))
        query = session.query(TREES[name], name=name).start("memory")
        assert isinstance(query.plan, TreePlan)
        session.finish()
        given = Given(query.answers(), query.changes(), query.result())
        assert_same(TREES[name], given, tmp_path)
        assert "tree over" in query.explain()
        assert query.progress()["window_bytes"] > 0
        assert session.windows()["queries"].to_pylist() == [[name]] * len(query.plan.inputs)
    finally:
        session.stop()


def assert_same(text: str, given: Given, folder: Path) -> None:
    """Answers and changes as sets of each instant, the result in its order."""
    twin = RUNNERS["in process"](text, folder)
    assert sorted(exactly(given.answers)) == sorted(exactly(twin.answers)), text
    assert sorted(exactly(given.changes)) == sorted(exactly(twin.changes)), text
    assert exactly(given.result) == exactly(twin.result), text


@pytest.mark.parametrize("name", ["first-rows", "sessions", "answers-in-a-window"])
def test_a_tree_goes_on_from_its_checkpoint(name: str, spark: SparkSession, tmp_path: Path) -> None:
    files = Files(spark, tmp_path / "in")
    given: list[list[pa.Table]] = [[], []]
    # The rows are cut in two by the clock of a session that is stopped in the middle.
    for part in range(2):
        session = windrow.connect(spark, checkpoint=tmp_path / "checkpoint")
        try:
            if part == 0:
                declared(session, files)
                hide_half(tmp_path / "in")
            else:
                show_all(tmp_path / "in")
                declared_again(session, files)
            query = session.query(TREES[name], name=name).start("memory", trigger="available")
            query.await_end()
            if part == 1:
                session.finish()
            given[0].append(query.answers())
            given[1].append(query.changes())
            result = query.result()
        finally:
            session.stop()
    assert given[0][0].num_rows, "nothing was said before the restart"
    whole = Given(*(pa.concat_tables(each) for each in given), result)
    assert_same(TREES[name], whole, tmp_path)


def hide_half(folder: Path) -> None:
    """The later files of each stream wait."""
    for stream in folder.iterdir():
        files = sorted(stream.glob("*.parquet"))
        for file in files[(len(files) + 1) // 2 :]:
            file.rename(file.with_name(f".{file.name}"))


def show_all(folder: Path) -> None:
    """They are there."""
    for file in folder.glob("*/.*.parquet"):
        file.rename(file.with_name(file.name[1:]))


def declared_again(session: SparkWindrowSession, files: Files) -> None:
    """Declares the streams on the rows that are written already."""
    put, files.put = files.put, lambda *_: None  # type: ignore[method-assign]
    declared(session, files)
    files.put = put  # type: ignore[method-assign]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:query .* keeps every row:RuntimeWarning")  # some forms do
@pytest.mark.parametrize("text", [*TREE_FORMS, *WINDOW_FORMS, *CLOSING_FORMS])
def test_every_form_gives_what_one_process_gives(
    text: str, spark: SparkSession, tmp_path: Path
) -> None:
    session = windrow.connect(spark, checkpoint=tmp_path / "checkpoint")
    try:
        declared(session, Files(spark, tmp_path / "in"))
        query = session.query(text, name="q").start("memory")
        session.finish()
        given = Given(query.answers(), query.changes(), query.result())
        assert_same(text, given, tmp_path)
    finally:
        session.stop()
