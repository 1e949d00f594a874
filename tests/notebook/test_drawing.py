"""The chart's front end in a real browser: mounted with a model made by hand, and looked at."""

from __future__ import annotations

import base64
import json
import math
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import windrow
from windrow import notebook

pytestmark = pytest.mark.notebook

MODULE = Path(notebook.__file__).with_name("chart.js")
START = datetime(2026, 1, 1, 12, tzinfo=UTC)
PAGE = """<!doctype html><meta charset="utf-8">
<body style="margin:16px;background:{paper};color:{ink}"><div id="chart"></div>
<script type="module">
import widget, {{ readLines, niceSteps }} from "./chart.js";
class Model {{
  constructor(state) {{ this.state = state; this.listeners = []; }}
  get(name) {{ return this.state[name]; }}
  on(name, listener) {{ this.listeners.push([name, listener]); }}
  off(name, listener) {{ this.listeners = this.listeners.filter((each) => each[1] !== listener); }}
  take(state) {{
    Object.assign(this.state, state);
    for (const [name, listener] of [...this.listeners]) {{
      if (name.replace("change:", "") in state) listener();
    }}
  }}
}}
const decoded = (state) => {{
  // One byte in front, so that the numbers begin at an odd place of their buffer.
  const text = atob(state.data);
  const bytes = new Uint8Array(text.length + 1);
  for (let i = 0; i < text.length; i++) bytes[i + 1] = text.charCodeAt(i);
  return {{ ...state, data: new DataView(bytes.buffer, 1) }};
}};
window.mount = (state) => {{
  window.model = new Model(decoded(state));
  window.unmount = widget.render({{ model: window.model, el: document.getElementById("chart") }});
}};
window.take = (state) => window.model.take(decoded(state));
window.readLines = readLines;
window.niceSteps = niceSteps;
window.ready = true;
</script>"""


@pytest.fixture
def page(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    paper, ink = getattr(request, "param", ("#ffffff", "#222222"))
    context = browser.new_context(viewport={"width": 800, "height": 400})
    page = context.new_page()
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    asked: list[str] = []
    page.on("request", lambda sent: asked.append(sent.url))
    files = {
        "http://chart.test/": ("text/html", PAGE.format(paper=paper, ink=ink)),
        "http://chart.test/chart.js": ("text/javascript", MODULE.read_text("utf-8")),
    }

    def serve(route: Any) -> None:
        kind, body = files.get(route.request.url, ("text/plain", ""))
        route.fulfill(content_type=kind, body=body)

    page.route("**/*", serve)
    page.goto("http://chart.test/")
    page.wait_for_function("window.ready")
    yield page
    assert page.problems == []
    assert set(asked) <= {*files, "http://chart.test/favicon.ico"}  # nothing comes from elsewhere
    context.close()


def state_of(chart: Any) -> dict[str, Any]:
    state = {key: getattr(chart, key) for key in ("title", "value", "state", "height", "left_out")}
    return {**state, "lines": chart.lines, "data": base64.b64encode(chart.data).decode()}


def waves(rooms: list[str], seconds: int = 60) -> dict[str, Any]:
    """The state of a chart of a real query: one wave for each room, the last with a hole."""
    session = windrow.connect()
    session.stream("temp", "room string, ts timestamp, celsius double", time="ts")
    query = session.query(
        "SELECT room, AVG(celsius) AS mean FROM temp [3 SECONDS] GROUP BY room EVERY (1 SECOND)",
        name="means",
    )
    chart = notebook.chart(query, refresh=None)
    for second in range(seconds):
        for number, room in enumerate(rooms):
            if room == rooms[-1] and 20 <= second < 35:
                continue
            celsius = 20 + 3 * number + math.sin(second / 6 + number)
            row = {"room": room, "ts": START + timedelta(seconds=second), "celsius": celsius}
            session.push("temp", row)
    session.finish()
    chart.refresh()
    state = state_of(chart)
    chart.close()
    return state


def ink_of(page: Any, red: int, green: int, blue: int) -> int:
    """How many points of the canvas are of this colour, or near it."""
    return page.evaluate(
        """([red, green, blue]) => {
          const canvas = document.querySelector("canvas");
          const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
          let count = 0;
          for (let i = 0; i < data.length; i += 4) {
            const far = Math.abs(data[i] - red) + Math.abs(data[i + 1] - green)
              + Math.abs(data[i + 2] - blue);
            if (data[i + 3] > 200 && far < 40) count++;
          }
          return count;
        }""",
        [red, green, blue],
    )


def settle(page: Any) -> None:
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)))")


def picture(page: Any, name: str) -> None:
    """Where CHART_PICTURES names a folder, what was drawn is kept there to be looked at."""
    folder = os.environ.get("CHART_PICTURES")
    if folder:
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


BLUE, ORANGE, GREEN = (0x2F, 0x7F, 0xB8), (0xD9, 0x82, 0x2B), (0x2E, 0x9E, 0x6B)


@pytest.mark.parametrize(
    "page",
    [("#ffffff", "#222222"), ("#111111", "#dddddd")],
    ids=["light", "dark"],
    indirect=True,
)
def test_a_line_for_each_group_in_light_and_dark(page: Any, request: Any) -> None:
    page.evaluate("state => mount(state)", waves(["lab", "hall", "attic"]))
    settle(page)
    picture(page, f"lines-{request.node.callspec.id}")
    for colour in (BLUE, ORANGE, GREEN):
        assert ink_of(page, *colour) > 200
    text = page.inner_text("#chart")
    assert "means" in text
    assert all(room in text for room in ("lab", "hall", "attic"))
    page.mouse.move(400, 120)
    settle(page)
    text = page.inner_text("#chart")
    assert "2026-01-01 12:00:2" in text
    assert "attic —" in text  # it has a hole there
    picture(page, "pointer")


def test_more_answers_are_drawn_and_a_closed_view_listens_no_more(page: Any) -> None:
    page.evaluate("state => mount(state)", waves(["lab", "hall"], seconds=1))
    settle(page)
    before = ink_of(page, *BLUE)
    page.evaluate("state => take(state)", waves(["lab", "hall"]))
    settle(page)
    assert ink_of(page, *BLUE) > before + 100
    page.evaluate("() => unmount()")
    assert page.evaluate("() => model.listeners.length") == 0


def test_names_are_texts_and_never_markup(page: Any) -> None:
    evil = "<img src=x onerror='window.hacked=true'><script>window.hacked=true</script>"
    state = waves([evil, "hall"])
    page.evaluate("state => mount(state)", {**state, "title": evil, "state": evil})
    settle(page)
    assert page.evaluate("() => window.hacked") is None
    assert page.evaluate("() => document.querySelectorAll('#chart img, #chart script').length") == 0
    assert evil in page.inner_text("#chart")


def test_bands_values_without_end_and_nothing_at_all(page: Any) -> None:
    empty = {**waves(["lab"], seconds=1), "lines": [], "data": ""}
    page.evaluate("state => mount(state)", empty)
    settle(page)
    picture(page, "empty")
    numbers = [*range(0, 5_000, 1_000)]
    rows = [numbers, [1, 2, 3, 4, 5], [0.5, 1.5, -math.inf, 3, 4], [2, 3, math.inf, 5, 6]]

    data = base64.b64encode(np.array(rows, np.float64).tobytes()).decode()
    lines = [{"label": "n", "count": 5, "latest": "5"}]
    page.evaluate("state => take(state)", {**empty, "lines": lines, "data": data})
    settle(page)
    picture(page, "band")
    assert ink_of(page, *BLUE) > 100
    # Lines and data that do not belong together are not drawn, rather than drawn wrong.
    page.evaluate("state => take(state)", {**empty, "lines": lines, "data": data[:-32]})
    settle(page)
    assert ink_of(page, *BLUE) == 0


def test_steps_of_axes_are_round_and_within(page: Any) -> None:
    for low, high in [(0, 1), (-3.7, 12), (1e9, 1e9 + 5), (0, 1e-7), (-1e300, 1e300)]:
        steps = page.evaluate("([low, high]) => niceSteps(low, high, 5)", [low, high])
        assert 2 <= len(steps) <= 12, json.dumps([low, high, steps])
        assert all(low - 1e-9 * (high - low) <= step <= high * (1 + 1e-12) for step in steps)
