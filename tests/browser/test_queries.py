"""Queries: written, checked while they are typed, run, watched, stopped; also by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from support.servers.console import Console

pytestmark = pytest.mark.browser

COUNT = "SELECT COUNT(*) AS n FROM temp [10 SECONDS] EVERY (1 SECOND)"


def write(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Query text").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def instants(page: Page) -> int:
    label = page.get_by_role("img", name=re.compile("^Answers of")).get_attribute("aria-label")
    found = re.search(r"([\d,]+) instants", label or "")
    assert found, label
    return int(found[1].replace(",", ""))


def pixels(page: Page) -> str:
    return str(page.evaluate("document.querySelector('.answers-chart canvas').toDataURL()"))


def test_a_query_is_added_and_its_answers_and_chart_move(console: Console, page: Page) -> None:
    write(page, COUNT)
    expect(page.get_by_label("Plan")).to_contain_text("aggregate over one window")
    page.get_by_label("name").fill("counted")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("heading", name="counted")).to_be_visible()
    console.play(20)
    expect(page.get_by_role("region", name="Result now")).to_contain_text("30")
    before, drawn = instants(page), pixels(page)
    console.play(20)
    page.wait_for_function(
        f"() => document.querySelector('.answers-chart [role=img]').ariaLabel.match(/[\\d,]+ inst/)"
        f"[0].replace(/\\D/g, '') > {before}"
    )
    assert pixels(page) != drawn
    page.get_by_role("tab", name="Changes").click()
    feed = page.get_by_role("region", name="Changes, newest first")
    expect(feed.get_by_role("cell", name="+1").first).to_be_visible()
    expect(feed.get_by_role("cell", name="\N{MINUS SIGN}1").first).to_be_visible()


def test_groups_are_lines_that_can_be_taken_out(page: Page) -> None:
    legend = page.get_by_role("group", name="Groups that are drawn")
    lab = legend.get_by_role("button", name="lab")
    expect(lab).to_have_attribute("aria-pressed", "true")
    drawn = pixels(page)
    lab.click()
    expect(lab).to_have_attribute("aria-pressed", "false")
    assert pixels(page) != drawn


def test_a_select_shows_its_rows_and_how_many_they_are(console: Console, page: Page) -> None:
    page.get_by_role("link", name="hot").click()
    expect(page.get_by_role("heading", name="hot")).to_be_visible()
    console.play(1)
    expect(page.get_by_role("region", name="Result now")).to_contain_text("office")
    assert instants(page) > 5


def test_an_error_is_underlined_in_place_with_its_hint(page: Page) -> None:
    write(page, "SELECT COUNT(*) AS n\nFROM temp [1 MINUTE]\nWHERE celsiu > 3")
    wrong = page.locator(".cm-lintRange-error")
    expect(wrong).to_have_text("celsiu")
    expect(page.get_by_text("did you mean celsius?").first).to_be_visible()
    wrong.hover()
    expect(page.locator(".cm-tooltip-lint")).to_contain_text("did you mean celsius?")
    write(page, "SELECT '😀' AS smile, celsiu FROM temp [1 MINUTE]")
    expect(wrong).to_have_text("celsiu")
    write(page, COUNT)
    expect(wrong).to_have_count(0)


def test_an_error_when_it_is_run_says_so(page: Page, troubles: list[str]) -> None:
    write(page, COUNT)
    page.get_by_label("name").fill("means")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".verdict.problem")).to_contain_text("means")
    (said,) = troubles  # a browser notes every refused request
    assert "400 (Bad Request)" in said
    troubles.clear()


@pytest.mark.parametrize(
    ("typed", "chosen", "becomes"),
    [
        ("SELECT celsius FROM te", "temp", "SELECT celsius FROM temp"),
        ("SELECT smoke.str", "strength", "SELECT smoke.strength"),
        ("SELECT COUNT(*) FROM temp [1 MIN", "MINUTES", "SELECT COUNT(*) FROM temp [1 MINUTES]"),
        ("SELECT AV", "AVG", "SELECT AVG()"),
    ],
)
def test_streams_columns_and_words_are_completed(
    page: Page, typed: str, chosen: str, becomes: str
) -> None:
    write(page, "")
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.type(typed)
    expect(page.get_by_role("option", name=chosen).first).to_be_visible()
    # Keys within the first moment are meant for the text, not for the list that has just come up.
    page.wait_for_timeout(120)
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Query text")).to_have_text(becomes)


def test_an_example_is_taken_and_runs(page: Page) -> None:
    page.get_by_role("button", name="Mean celsius by location").click()
    expect(page.get_by_label("Plan")).to_contain_text("group by")


def test_a_query_is_stopped_after_asking(console: Console, page: Page) -> None:
    console.registry.follow(COUNT, "doomed")
    page.get_by_role("link", name="doomed").click()
    page.get_by_role("button", name="Stop", exact=True).click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_focused()
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("button", name="Stop it for good").click()
    expect(page.locator(".query .state")).to_have_text("ended")
    assert console.registry.query("doomed").state == "ended"


def test_the_keyboard_alone_is_enough(console: Console, open_page: Callable[..., Page]) -> None:
    page = open_page(console)
    page.get_by_role("link", name="means").wait_for()
    page.keyboard.press("Tab")
    expect_focus(page, "To the content")
    walk_to(page, "Windows")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Windows", exact=True)).to_be_visible()
    walk_to(page, "Queries", backwards=True)
    page.keyboard.press("Enter")
    walk_to(page, "Rows of the last minute")
    page.keyboard.press("Enter")  # puts the example and the focus into the editor
    expect_focus(page, "editor")
    page.keyboard.press("Tab")
    expect_focus(page, "name")
    page.keyboard.type("by hand")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="by hand")).to_be_visible()
    walk_to(page, "Result now")
    page.keyboard.press("ArrowRight")
    expect_focus(page, "Changes")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("Text", exact=True)).to_contain_text("COUNT(*)")
    walk_to(page, "Stop", backwards=True)
    page.keyboard.press("Enter")
    expect_focus(page, "Stop it for good")
    page.keyboard.press("Enter")
    expect(page.locator(".query .state")).to_have_text("ended")


def walk_to(page: Page, name: str, *, backwards: bool = False) -> None:
    """Presses Tab until what has that name has the focus, which must be visible each time."""
    for _ in range(60):
        page.keyboard.press("Shift+Tab" if backwards else "Tab")
        assert page.evaluate(HAS_RING), f"no focus ring at {focused(page)!r}"
        if focused(page) == name:
            return
    raise AssertionError(f"{name!r} was not reached")


def expect_focus(page: Page, name: str) -> None:
    """Waits for it: the page moves the focus when it has drawn what gets it."""
    for _ in range(50):
        if focused(page) == name:
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{name!r} has not the focus, but {focused(page)!r}")


def focused(page: Page) -> str:
    return str(page.evaluate(FOCUSED))


FOCUSED = """() => {
  const element = document.activeElement;
  if (element.shadowRoot) return "editor";
  const label = element.labels?.[0]?.firstChild?.textContent.trim();
  const text = element.cloneNode(true);
  for (const each of text.querySelectorAll("kbd, .level")) each.remove();
  return label || element.ariaLabel || text.textContent.trim();
}"""
HAS_RING = """() => {
  let element = document.activeElement;
  if (element === document.body) return true;  // between the page and the browser's own bars
  if (element.shadowRoot) element = element.shadowRoot.querySelector(".cm-editor");
  return getComputedStyle(element).outlineStyle !== "none";
}"""
