"""The past: zooming asks for finer grain, by mouse and by keyboard, and one finds the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from support.servers.console import Console

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def past() -> Iterator[Console]:
    """An hour, of which the last ten minutes are known by the second."""
    console = Console({})
    console.play(3600)
    yield console
    console.close()


def grain(page: Page) -> Locator:
    return page.locator(".grain")


def test_dragging_zooms_in_to_a_finer_grain(past: Console, open_page: Callable[..., Page]) -> None:
    page = open_page(past, "history")
    expect(grain(page)).to_contain_text("to 1 min")
    box = page.locator(".history-chart .u-over").bounding_box()
    assert box
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.9, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.97, y, steps=5)
    page.mouse.up()
    expect(grain(page)).to_have_text("grain 1 s")
    expect(page.get_by_role("navigation", name="Zoom").get_by_role("button")).to_have_count(2)
    page.get_by_role("button", name="All").click()
    expect(grain(page)).to_contain_text("to 1 min")


def test_the_keyboard_zooms_moves_and_goes_back(
    past: Console, open_page: Callable[..., Page]
) -> None:
    page = open_page(past, "history")
    expect(grain(page)).to_contain_text("to 1 min")
    page.locator(".history-chart .chart").focus()
    page.keyboard.press("+")
    zooms = page.get_by_role("navigation", name="Zoom").get_by_role("button")
    expect(zooms).to_have_count(2)
    expect(zooms.last).to_contain_text("09:15")
    page.keyboard.press("ArrowRight")
    expect(zooms).to_have_count(3)
    page.keyboard.press("Escape")
    expect(zooms).to_have_count(2)


def test_the_tree_is_drawn_with_all_its_levels(
    past: Console, open_page: Callable[..., Page]
) -> None:
    page = open_page(past, "history")
    expect(page.get_by_role("img", name="Tree of 2 levels")).to_be_visible()
    expect(page.locator(".tree-levels li")).to_have_text(["1 min", "1 s"])


def test_a_question_is_answered_in_place(past: Console, open_page: Callable[..., Page]) -> None:
    page = open_page(past)
    page.get_by_role("textbox", name="Query text").click()
    page.keyboard.insert_text(
        "SELECT COUNT(*) AS n FROM HISTORY(temp) [FROM '2026-01-01 09:30' TO '2026-01-01 09:40']"
    )
    page.get_by_role("button", name="Ask once").click()
    answer = page.get_by_role("region", name="Answer from the history")
    expect(answer.get_by_role("cell", name="1,800").first).to_be_visible()
