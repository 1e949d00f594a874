"""A hundred thousand points on a chart move within 15 ms of CPU an update."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from support.servers.console import Console

pytestmark = pytest.mark.browser

UPDATES = 40
CPU_MS_LIMIT = 15.0

# A page of its own with the chart and nothing else; five more answers a group at each update.
CHART = """async ({groups, instants, hasBounds}) => {
  const { AnswerLog } = await import("/static/charts/answer_log.js");
  const { AnswersChart } = await import("/static/charts/answers_chart.js");
  const { h, render } = await import("/static/vendor/preact.js");
  const lead = { at: "TIMESTAMP", level: "STRING", error_bound: "DOUBLE" };
  const types = { ...lead, k: "STRING", v: "DOUBLE" };
  const log = new AnswerLog(Object.entries(types).map(([name, type]) => ({ name, type })), ["k"]);
  const values = Array.from({ length: groups }, (_, group) => 100 + 10 * group);
  let [at, seed, version] = [1.7e15, 1, 0];
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const fresh = (count) => Array.from({ length: count * groups }, (_, place) => {
    const group = place % groups;
    if (group === 0) at += 1e6;
    values[group] += random() - 0.5;
    return [at, hasBounds ? "B" : "A", hasBounds ? 0.1 : null, `group ${group}`, values[group]];
  });
  log.append(fresh(instants));
  const host = document.body.appendChild(document.createElement("div"));
  const frame = () => new Promise(requestAnimationFrame);
  window.update = async (times) => {
    for (let time = 0; time < times; time++) {
      await frame();
      log.append(fresh(5));
      render(h(AnswersChart, { log, version: ++version, name: "speed" }), host);
    }
    await frame();
    await frame();
  };
  await window.update(20);
  return log.size * log.lines.length;
}"""


@pytest.mark.parametrize(
    ("groups", "has_bounds"), [(1, False), (8, False), (8, True)], ids=["one", "eight", "bands"]
)
def test_points_move_smoothly(
    console: Console, open_page: Callable[..., Page], groups: int, has_bounds: bool
) -> None:
    page = open_page(console)
    page.goto(f"{console.server.url}static/locked.html")
    given = {"groups": groups, "instants": 99_000 // groups, "hasBounds": has_bounds}
    points = page.evaluate(CHART, given)
    assert 99_000 <= points <= 101_000
    spent_ms = cpu_ms(page, f"window.update({UPDATES})") / UPDATES
    print(f"{points} points, {groups} lines: {spent_ms:.1f} ms of CPU an update")  # noqa: T201
    assert spent_ms <= CPU_MS_LIMIT


def cpu_ms(page: Page, expression: str) -> float:
    """CPU of the page's thread for all that it did meanwhile: script, layout and painting."""
    probe = page.context.new_cdp_session(page)
    probe.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy_s() -> float:
        metrics = probe.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))

    before = busy_s()
    page.evaluate(expression)
    return (busy_s() - before) * 1000
