"""Every form of query on Spark, against DuckDB over all rows and the session in this process."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from support.form_runners import RUNNERS, assert_right
from support.query_forms import FORMS
from support.runners import exactly
from support.spark.spark_forms import forms_by_operator, on_spark

pytestmark = [pytest.mark.spark, pytest.mark.long_spark]

TOGETHER = [
    pytest.param(names, id=" ".join([names[0], *(f"+{len(names) - 1}" for _ in names[1:2])]))
    for names in forms_by_operator()
]
GAPS = [
    pytest.param([name], id=name, marks=pytest.mark.xfail(reason=form.gaps["spark"], strict=True))
    for name, form in FORMS.items()
    if "spark" in form.gaps
]


@pytest.mark.parametrize("names", [*TOGETHER, *GAPS])
def test_forms_give_what_the_oracle_says(
    names: list[str], spark: SparkSession, tmp_path: Path
) -> None:
    for name, given in on_spark(spark, names, tmp_path).items():
        text = FORMS[name].text
        assert_right(text, given)
        twin = RUNNERS["in process"](text, tmp_path)
        assert exactly(given.answers) == exactly(twin.answers), name
        assert sorted(exactly(given.changes)) == sorted(exactly(twin.changes)), name
        assert exactly(given.result) == exactly(twin.result), name
