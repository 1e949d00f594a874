"""What is drawn of many points is what they say: extremes, gaps, bands; and batches of Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from support.servers.console import Console

pytestmark = pytest.mark.browser

# Rows of [at in seconds, error bound, value], in slices: [seconds, values, low, high].
THINNED = """async ({ rows, slices }) => {
  const { AnswerLog } = await import("/static/charts/answer_log.js");
  const { thinned } = await import("/static/charts/thinning.js");
  const names = ["at", "level", "error_bound", "v"];
  const log = new AnswerLog(names.map((name) => ({ name, type: "DOUBLE" })), []);
  log.append(rows.map(([at, bound, value]) => [at * 1e6, "B", bound, value]));
  const [first, last] = [log.seconds[0], log.seconds[log.size - 1]];
  return thinned(log, log.lines, 0, first, last, slices, true);
}"""


@pytest.fixture
def blank(console: Console, open_page: Callable[..., Page]) -> Page:
    """A page of the console's server on which nothing moves."""
    page = open_page(console)
    page.goto(f"{console.server.url}static/locked.html")
    return page


def drawn(page: Page, rows: list[list[Any]], slices: int) -> list[list[float | None]]:
    return list(page.evaluate(THINNED, {"rows": rows, "slices": slices}))


def test_no_peak_is_lost_among_many_points(blank: Page) -> None:
    rows = [[second, None, 1.0] for second in range(50_000)]
    rows[31_234][2], rows[777][2] = 1000.0, -1000.0
    _, values, _, _ = drawn(blank, rows, 100)
    assert len(values) == 200
    assert (max(values), min(values)) == (1000.0, -1000.0)  # type: ignore[type-var]
    assert values.index(-1000.0) < values.index(1000.0)


def test_few_points_are_drawn_as_they_are_and_null_is_a_gap(blank: Page) -> None:
    rows = [[0, None, 1.0], [1, None, None], [2, None, "NaN"], [3, None, 4.0]]
    seconds, values, _, _ = drawn(blank, rows, 100)
    assert (seconds, values) == ([0, 1, 2, 3], [1.0, None, None, 4.0])


def test_a_band_holds_every_truth_that_an_answer_can_stand_for(blank: Page) -> None:
    cases = [(100.0, 0.25, 80.0, 100 / 0.75), (-100.0, 0.25, -100 / 0.75, -80.0), (7.0, None, 7, 7)]
    for value, bound, low, high in cases:
        for count in (10, 10_000):
            rows = [[second, bound, value] for second in range(count)]
            _, _, lows, highs = drawn(blank, rows, 20)
            known = [pair for pair in zip(lows, highs, strict=True) if pair != (None, None)]
            assert len(known) >= 10
            assert all(pair == pytest.approx((low, high)) for pair in known)


def test_an_error_without_end_has_no_band(blank: Page) -> None:
    rows = [[second, "Infinity", 5.0] for second in range(1000)]
    _, _, lows, highs = drawn(blank, rows, 20)
    assert {*lows, *highs} == {None}


# Answers of [at in seconds, group], changes of [at in seconds, change, group]: where lines end.
GONE = """async ({ answers, changes, every, slices }) => {
  const { AnswerLog } = await import("/static/charts/answer_log.js");
  const { gapsWhere, wasGone } = await import("/static/charts/gaps.js");
  const { thinned } = await import("/static/charts/thinning.js");
  const typeOf = (name) => (name === "k" ? "string" : "bigint");
  const named = (...names) => names.map((name) => ({ name, type: typeOf(name) }));
  const columns = named("at", "level", "error_bound", "k", "n");
  const log = new AnswerLog(columns, ["k"], every && every * 1e6);
  log.append(answers.map(([at, k]) => [at * 1e6, "A", null, k, 1]));
  const rows = changes.map(([at, change, k]) => [at * 1e6, change, k, 1]);
  log.noteChanges(named("at", "change", "k", "n"), rows);
  const data = thinned(log, log.lines, 0, log.seconds[0], log.seconds[log.size - 1], slices, false);
  const plot = { data, valToPos: (second) => second };
  return log.lines.map((line, place) => {
    const isBroken = (one, other) => wasGone(line, data[0][one], data[0][other], data.slice_s);
    return gapsWhere(isBroken)(plot, place + 1, 0, data[0].length - 1, []);
  });
}"""


def gone(page: Page, **given: Any) -> list[list[list[float]]]:
    return list(page.evaluate(GONE, {"changes": [], "every": None, "slices": 100} | given))


def test_no_line_is_drawn_through_instants_without_rows(blank: Page) -> None:
    answers = [[second, "a"] for second in (0, 5, 10, 60, 65)]
    assert gone(blank, answers=answers, every=5) == [[[10, 60]]]
    assert gone(blank, answers=answers, every=60) == [[]]
    # Without EVERY: the group went at 15 s, and came back.
    assert gone(blank, answers=answers) == [[]]
    went = [[0, 1, "a"], [5, -1, "a"], [5, 1, "a"], [15, -1, "a"], [60, 1, "a"]]
    assert gone(blank, answers=answers, changes=went) == [[[10, 60]]]


def test_a_group_that_goes_breaks_its_own_line_only(blank: Page) -> None:
    answers = [[0, "a"], [0, "b"], [60, "a"], [60, "b"]]
    changes = [[0, 1, "a"], [0, 1, "b"], [20, -1, "b"], [60, 1, "b"], [61, 1, "a"]]
    assert gone(blank, answers=answers, changes=changes) == [[], [[0, 60]]]


def test_among_many_points_long_gaps_stay_gaps(blank: Page) -> None:
    answers = [[second, "a"] for second in range(20_000) if not 5_000 <= second < 9_000]
    ((gap,),) = gone(blank, answers=answers, every=1)
    assert gap == pytest.approx([5_000, 9_000], abs=200)
    ((gap,),) = gone(blank, answers=answers, changes=[[5_000, -1, "a"], [9_000, 1, "a"]])
    assert gap == pytest.approx([5_000, 9_000], abs=200)


# Changes of [at in seconds, change], the last of which has a number; then steps by the page.
COUNTED = """async ({ changes, number, steps }) => {
  const { RowCount } = await import("/static/charts/row_count.js");
  const count = new RowCount();
  const micro = (rows) => rows.map(([at, change]) => [at * 1e6, change]);
  let log = count.append(micro(changes), number);
  for (const [step, ...given] of steps) {
    if (step === "append") log = count.append(micro(given[0]), given[1]);
    else if (step === "note") count.note(given[0] * 1e6, given[1]);
    else count.miss();
  }
  return Array.from(log.lines[0].values[0].subarray(0, log.size));
}"""


def counted(page: Page, changes: list[list[int]], number: int, steps: list[Any]) -> list[int]:
    given = {"changes": changes, "number": number, "steps": steps}
    return list(page.evaluate(COUNTED, given))


def test_rows_are_counted_from_the_start_or_from_a_result(blank: Page) -> None:
    changes = [[1, 1], [2, 1], [3, -1]]
    assert counted(blank, changes, 3, [["note", 2, 99]]) == [1, 2, 1], "all was seen"
    assert counted(blank, changes, 50, []) == [1, 2, 1], "at the least"
    told = [["note", 2, 10]]
    assert counted(blank, changes, 50, told) == [9, 10, 9], "a result says how many"
    early = [["note", 4, 8], ["append", [[5, 1]], 51]]
    assert counted(blank, changes, 50, early) == [8, 9, 8, 9], "once all before it has come"


def test_who_missed_changes_counts_anew_from_the_next_result(blank: Page) -> None:
    changes = [[1, 1], [2, 1]]
    steps = [["miss"], ["append", [[9, 1]], 40], ["note", 9, 30], ["append", [[10, -1]], 41]]
    assert counted(blank, changes, 2, steps)[-2:] == [30, 29]


BATCHES = """async () => {
  const { Batches } = await import("/static/panels/batches.js");
  const { h, render } = await import("/static/vendor/preact.js");
  const batches = Array.from({ length: 30 }, (_, id) => ({
    query: id % 2 ? "pairs" : "sums", id, at_us: 1.7e15 + id * 1e6, rows: 1000 * id, ms: 100 + id,
    state_bytes: null }));
  const none = { batch_p50_ms: null, batch_p95_ms: null, event_p50_ms: null, event_p95_ms: null,
    arrival_p95_ms: null, busy: null, over_trigger: null, behind: null, skew: null };
  const operations = [
    { ...none, query: "pairs", batches: 30, batch_p50_ms: 120, batch_p95_ms: 2500, busy: 0.4,
      arrival_p95_ms: 3000, event_p95_ms: 65000, behind: 3, skew: 2.5, state_bytes: 2048,
      restarts: 1 },
    { ...none, query: "sums", batches: 0, state_bytes: 0, restarts: 0 }];
  const place = document.body.appendChild(document.createElement("div"));
  render(h(Batches, { batches, operations }), place);
}"""


def test_batches_of_spark_are_drawn_and_listed_newest_first(blank: Page) -> None:
    blank.evaluate(BATCHES)
    expect(blank.get_by_role("img", name="Milliseconds of each batch")).to_be_visible()
    rows = blank.get_by_role("region", name="Batches", exact=True).last.get_by_role("row")
    expect(rows.nth(1)).to_contain_text("29,000")
    standing = blank.get_by_role("region", name="Operations").get_by_role("row")
    shown = [
        *("pairs", "120 ms", "2.5 s", "3 s", "1 min", "40 %"),
        *("3", "2.5 \u00d7 median", "2 KB", "1"),
    ]
    for cell, text in enumerate(shown):
        expect(standing.nth(1).get_by_role("cell").nth(cell)).to_contain_text(text)
    expect(standing.nth(2).get_by_role("cell").nth(1)).to_have_text("\u2013")
    operators = blank.get_by_role("list", name="Operators").get_by_role("listitem")
    expect(operators).to_have_text(["pairs", "sums"])


def test_in_process_there_are_no_batches(page: Page) -> None:
    expect(page.get_by_role("link", name="Streams", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Batches")).to_have_count(0)
