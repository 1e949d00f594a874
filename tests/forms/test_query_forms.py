"""Every form of query and of question on every runner, against DuckDB over all rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.form_runners import RUNNERS, assert_right, whole_model
from support.query_forms import FORMS
from support.question_forms import ASKED_RUNNERS, QUESTIONS, assert_answered


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("name", FORMS)
def test_a_form_gives_what_the_oracle_says(
    name: str, runner: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if reason := FORMS[name].gaps.get(runner):
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    assert_right(FORMS[name].text, RUNNERS[runner](FORMS[name].text, tmp_path))


def test_the_rows_are_hard_enough() -> None:
    streams = whole_model().streams
    assert {name: sum(map(len, each.late)) > 0 for name, each in streams.items()} == {
        "a": True, "b": True, "c": True,
    }  # fmt: skip


@pytest.mark.parametrize("runner", ASKED_RUNNERS)
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_about_the_past_is_answered(name: str, runner: str) -> None:
    assert_answered(QUESTIONS[name], ASKED_RUNNERS[runner](QUESTIONS[name]))
