"""What the page about clusters says to set is what the code gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from windrow.errors import BindingError
from windrow.spark.cluster import cluster_settings

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "cluster.md"
ROW = re.compile(r"^\| (.*?) ?\| (.+?) \| .+ \|$", re.M)
GIVEN = re.compile(r"`(spark[\w.]+)`")


def documented() -> dict[str, dict[str, str]]:
    """Settings by the words that say who gives them; a row without words goes on with the last."""
    table = PAGE.read_text(encoding="utf-8").split("## Settings")[1].split("\n## ")[0]
    found: dict[str, dict[str, str]] = {}
    who = ""
    for words, cell in ROW.findall(table):
        who = words or who
        names, _, value = cell.rpartition(": ")
        found.setdefault(who, {}).update(dict.fromkeys(GIVEN.findall(names), value.strip("`")))
    return found


@pytest.mark.parametrize("manager", ["standalone", "yarn", "kubernetes", "databricks"])
def test_the_page_and_the_code_agree(manager: str) -> None:
    rows = documented()
    common = rows["at the start, by `cluster_settings()`"]
    own = rows.get(f'at the start, by `cluster_settings("{manager}")`', {})
    assert {**common, **own} == cluster_settings(manager)


def test_a_manager_that_nobody_knows_is_refused() -> None:
    with pytest.raises(BindingError, match=r"WB496.*mesos"):
        cluster_settings("mesos")
