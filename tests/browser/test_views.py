"""Views at the side of the page: what each holds, and who reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from support.servers.console import QUERIES, Console

pytestmark = pytest.mark.browser


@pytest.fixture
def console() -> Iterator[Console]:
    console = Console(QUERIES)
    console.play(5)
    yield console
    console.close()


def test_views_show_rows_bytes_and_readers(
    console: Console, open_page: Callable[..., Page]
) -> None:
    page = open_page(console)
    page.get_by_role("link", name="means").wait_for()
    expect(page.get_by_role("heading", name="Views")).to_have_count(0)
    text = "SELECT location, COUNT(*) AS n FROM temp [1 MINUTE] GROUP BY location"
    console.session.view("busy", text)
    views = page.get_by_role("region", name="Views")
    expect(views).to_contain_text("not read")
    console.registry.follow("SELECT MAX(n) AS n FROM busy", "most")
    console.play(5)
    item = views.get_by_role("listitem")
    expect(item).to_contain_text("busy")
    expect(item).to_contain_text("3 rows")
    expect(item).to_contain_text("read by most")
    assert text in (item.locator("[title]").get_attribute("title") or "")
    (shown,) = console.registry.runner.views()
    assert shown["bytes"] > 0
