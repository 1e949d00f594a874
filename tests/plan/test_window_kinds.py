"""The registry of kinds of windows: its laws, the page that lists them, and how one is added."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.doc_pages import Block, blocks_of, run_python
from support.runners import agree, outcome
from support.streams import Action, plan_of, scenarios
from windrow.plan.model import WindowSpec
from windrow.rows.prepare import lifetime_of, window_of
from windrow.sql import parse_query
from windrow.sql.printer import print_statement
from windrow.sql.window_clause import WORDS
from windrow.window_kinds import UNBOUNDED, WINDOW_KINDS, Leaving, WindowKind

ROOT = Path(__file__).parents[2]
LANGUAGE = (ROOT / "docs" / "reference" / "language.md").read_text("utf-8")
HOW_TO_ADD = ROOT / "CONTRIBUTING.md"
TABLE_ROW = re.compile(r"^\| (`A \[.*?) \| (.*) \|$", re.M)

each_kind = pytest.mark.parametrize("kind", WINDOW_KINDS.values(), ids=lambda each: each.name)
EXAMPLES = (
    "SELECT COUNT(*) AS n, SUM(k) AS s FROM a [LATELY]",
    "SELECT k, MAX(d) AS d FROM b [LATELY] GROUP BY k",
    "SELECT k, s FROM b [LATELY] WHERE k > 0",
    "SELECT COUNT(*) AS n FROM a [LATELY], b [2 SECONDS] WHERE a.k = b.k",
    "SELECT DISTINCT a.k AS k FROM a [LATELY], b [ROWS 3] WHERE a.k = b.k",
)


def test_the_page_lists_every_kind_with_its_meaning() -> None:
    listed = dict(TABLE_ROW.findall(LANGUAGE))
    expected = {_written(kind): kind.meaning for kind in WINDOW_KINDS.values()}
    assert listed == expected


def _written(kind: WindowKind) -> str:
    shown = ", ".join(f"`A {each}`" for each in kind.written)
    return f"{shown}, or no bracket" if kind is UNBOUNDED else shown


@each_kind
def test_what_is_written_is_read_as_that_kind(kind: WindowKind) -> None:
    for written in kind.written:
        select = parse_query(f"SELECT COUNT(*) AS n FROM a {written}")
        assert select.sources[0].window.kind == kind.name
        assert parse_query(print_statement(select)) == select


@each_kind
def test_rows_leave_as_the_entry_says(kind: WindowKind) -> None:
    """Exactly what leaves by time has a rule for it, and nothing else is governed."""
    spec = WindowSpec(kind.name, length_us=10, slide_us=5, rows=3)
    assert (kind.timing is not None) == kind.has_width
    assert lifetime_of(spec).is_endless == (not kind.has_width)
    assert window_of(spec, 1).is_endless == kind.is_endless
    assert kind.counts_rows == (not kind.leaves_by_time)
    by_partition = kind.counts_by_partition or kind.is_scheduled
    assert kind.counts_rows == (kind.counts_whole_stream or by_partition)
    assert kind.has_width or not (kind.moves_in_steps or kind.ends_at_any_instant)


def test_every_reason_to_leave_has_a_kind() -> None:
    assert {kind.leaving for kind in WINDOW_KINDS.values()} == set(Leaving)


def _example() -> list[Block]:
    """The snippets of "How to add a kind of window"."""
    text = HOW_TO_ADD.read_text("utf-8")
    first = text[: text.index("### How to add a kind of window")].count("\n")
    last = text[: text.index("### How to add a rewrite rule")].count("\n")
    return [each for each in blocks_of(HOW_TO_ADD) if first < each.line < last]


@pytest.fixture
def _lately(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind that the page adds, while a test runs."""
    names: dict[str, Any] = {}
    for block in _example():
        run_python(HOW_TO_ADD, block, names)
    monkeypatch.setitem(WINDOW_KINDS, names["LATELY"].name, names["LATELY"])  # type: ignore[arg-type] # a dict
    monkeypatch.setitem(WORDS, "LATELY", names["_lately"])


@pytest.mark.usefixtures("_lately")
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(EXAMPLES), scenarios())
def test_the_example_of_how_to_add_a_kind_runs(text: str, actions: list[Action]) -> None:
    """Against the oracle, and in several shards as in one."""
    plan = plan_of(text)
    assert any(entry.window.kind == "lately" for entry in plan.inputs)
    agree(plan, actions)
    assert outcome(plan, actions, buckets=3) == outcome(plan, actions)
