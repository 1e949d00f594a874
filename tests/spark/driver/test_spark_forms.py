"""Every form of query on Spark, against DuckDB over all rows and the session in this process."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import windrow
from support.form_runners import RUNNERS, Given, assert_right, whole_model
from support.nested_forms import NESTED_FORMS, REFUSED, planned
from support.nested_forms import in_process as trees_in_process
from support.query_forms import FORMS
from support.question_forms import ASKED_RUNNERS, HISTORY, QUESTIONS, assert_answered
from support.runners import exactly
from support.spark.nested_frames import declare_nested
from support.spark.spark_forms import by_operator, declared, finished_forms, forms_by_operator
from support.spark.stream_files import Files
from support.streams import plan_of
from windrow.spark.driver.session import SparkWindrowSession

pytestmark = [pytest.mark.spark, pytest.mark.long_spark]

TOGETHER = [
    pytest.param(names, id=" ".join([names[0], *(f"+{len(names) - 1}" for _ in names[1:2])]))
    for names in forms_by_operator()
]
NESTED = by_operator({name: planned(text) for name, text in NESTED_FORMS.items()})
GAPS = [
    pytest.param([name], id=name, marks=pytest.mark.xfail(reason=form.gaps["spark"], strict=True))
    for name, form in FORMS.items()
    if "spark" in form.gaps
]


@pytest.mark.parametrize("names", [*TOGETHER, *GAPS])
def test_forms_give_what_the_oracle_says(
    names: list[str], spark: SparkSession, tmp_path: Path
) -> None:
    with finished_forms(spark, names, tmp_path) as (session, queries):
        for name, query in queries.items():
            given = Given(query.answers(), query.changes(), query.result())
            assert_right(FORMS[name].text, given)
            twin = RUNNERS["in process"](FORMS[name].text, tmp_path)
            assert exactly(given.answers) == exactly(twin.answers), name
            assert sorted(exactly(given.changes)) == sorted(exactly(twin.changes)), name
            assert exactly(given.result) == exactly(twin.result), name
            assert all(f"{column.name} " in query.explain() for column in query.plan.select), name
        assert_accounted_for(session, names)


@pytest.mark.filterwarnings("ignore:query .* keeps every row")
@pytest.mark.parametrize("names", NESTED, ids=lambda names: f"{names[0]}-{len(names)}")
def test_columns_of_all_types_give_what_trees_give(
    names: list[str], spark: SparkSession, tmp_path: Path
) -> None:
    session = windrow.connect(spark, checkpoint=tmp_path / "checkpoint", buckets=2)
    try:
        declare_nested(session, Files(spark, tmp_path / "in"))
        for name in names:
            session.query(NESTED_FORMS[name], name=name)
        queries = session.start(dict.fromkeys(names, "memory"))
        session.finish()
        for name, query in queries.items():
            given = Given(query.answers(), query.changes(), query.result())
            for one, other in zip(given, trees_in_process(NESTED_FORMS[name]), strict=True):
                assert one.schema == other.schema, name
                assert sorted(map(repr, one.to_pylist())) == sorted(map(repr, other.to_pylist()))
        for text, code in REFUSED.items():
            with pytest.raises(windrow.WindrowError, match=code):
                session.query(text)
    finally:
        session.stop()


def assert_accounted_for(session: SparkWindrowSession, names: list[str]) -> None:
    """Every window of every form is listed, and every row that these have read."""
    plans = {name: plan_of(form.text) for name, form in FORMS.items()}
    listed = Counter(name for each in session.windows()["queries"].to_pylist() for name in each)
    assert listed == {name: len(plan.inputs) for name, plan in plans.items()}
    found = {
        (row["query"], row["stream"]): (row["rows_in"], row["applied"], row["late"])
        for row in session.ledger().to_pylist()
    }
    assert found.keys() == {(name, stream) for name in FORMS for stream in plans[name].streams}
    for name in names:
        for stream in plans[name].streams:
            model = whole_model().streams[stream]
            late = sum(map(len, model.late))
            counts = (model.rows_in, model.rows_in - late, late)
            assert found[name, stream] == counts, (name, stream)


def test_questions_about_the_past_are_answered(spark: SparkSession, tmp_path: Path) -> None:
    session = windrow.connect(spark, checkpoint=tmp_path / "checkpoint")
    try:
        declared(session, Files(spark, tmp_path / "in"))
        session.history("a", **HISTORY)
        session.finish()
        for name, question in QUESTIONS.items():
            table = session.ask(question.of_history)
            assert_answered(question, table)
            if name != "variances":  # The last bit of these depends on the number of buckets.
                twin = ASKED_RUNNERS["in process"](question)
                assert sorted(exactly(table)) == sorted(exactly(twin)), name
    finally:
        session.stop()
