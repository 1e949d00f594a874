"""The pages for people who come from other systems: both sides of every pair run."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from windrow.dialects import DIALECTS, translate
from windrow.errors import WindrowError
from windrow.jobs.checking import checked_job
from windrow.jobs.job import Job

PAGES = Path(__file__).parents[2] / "docs" / "coming-from"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)


def pairs() -> list[tuple[str, str, str, str]]:
    """Of each page a dialect, their script and ours."""
    found = []
    for page in sorted(PAGES.glob("*.md")):
        blocks = _BLOCK.findall(page.read_text())
        for (dialect, theirs), (own, ours) in itertools.pairwise(blocks):
            if dialect in DIALECTS:
                assert own == "sql", f"{page.name}: ours stands behind theirs"
                found.append((page.stem, dialect, theirs, ours))
    return found


def columns_of(text: str) -> list[list[str]]:
    """The columns of each view and query of a script that runs."""
    job, problems = checked_job(text, needs_sources=False)
    kept: list[WindrowError] = [each for each in problems if each.code != "WB516"]  # only views
    assert not kept, "\n".join(map(str, kept))
    return [_names(each.plan) for each in (*job.views.values(), *job.queries.values())]


def _names(plan: object) -> list[str]:
    return [column.name.lower() for column in plan.select]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("page", "dialect", "theirs", "ours"), pairs())
def test_both_sides_of_a_pair_run(page: str, dialect: str, theirs: str, ours: str) -> None:
    found, wanted = columns_of(translate(theirs, dialect).text), columns_of(ours)
    assert len(found) == len(wanted) > 0, page
    for one, other in zip(found, wanted, strict=True):
        assert len(one) >= len(other), page  # a stream of ksqlDB carries its time along


def test_there_is_a_page_for_every_dialect() -> None:
    assert {dialect for _, dialect, _, _ in pairs()} == {*DIALECTS}
    assert isinstance(checked_job("SELECT 1 AS x")[0], Job)
