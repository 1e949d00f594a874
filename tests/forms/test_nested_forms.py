"""Columns of all types in every form of query that Spark's buckets run, against trees."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.nested_forms import NESTED_FORMS, REFUSED, in_buckets, in_process, planned
from windrow.errors import WindrowError


@pytest.mark.filterwarnings("ignore:query .* keeps every row")
@pytest.mark.parametrize("name", NESTED_FORMS)
def test_blocks_give_what_trees_give(name: str, tmp_path: Path) -> None:
    blocks, trees = in_buckets(NESTED_FORMS[name], tmp_path), in_process(NESTED_FORMS[name])
    assert trees.answers.num_rows, "rows that give no answer show nothing"
    for one, other in zip(blocks, trees, strict=True):
        assert one.schema == other.schema
        assert sorted(map(repr, one.to_pylist())) == sorted(map(repr, other.to_pylist()))


@pytest.mark.parametrize("text", REFUSED)
def test_what_does_not_run_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(WindrowError, match=REFUSED[text]) as found:
        planned(text)
    assert found.value.hint
