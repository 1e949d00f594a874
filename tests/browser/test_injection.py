"""Whatever streams, columns and queries are called, and whatever rows hold, is shown as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from support.servers.console import START, Console

pytestmark = pytest.mark.browser

IMAGE = "<img src=x onerror=window.harmed=1>"
SCRIPT = '"><script>window.harmed=1</script>'
LINK = "javascript:window.harmed=1//'`"
PAYLOADS = (IMAGE, SCRIPT, LINK)


# Whatever was put on the page has been drawn, and had its chance to run.
TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def written(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@pytest.fixture(scope="module")
def hostile() -> Iterator[Console]:
    """A console in which every name and every value is an attempt."""
    console = Console({})
    console.session.stream(
        SCRIPT, {IMAGE: "string", LINK: "double", "ts": "timestamp"}, time="ts", lateness=0
    )
    console.session.history(SCRIPT, measures=[LINK], by=[IMAGE], levels=[("1 second", "1 hour")])
    source = f"{written(SCRIPT)} [1 MINUTE]"
    grouped = f"SELECT {written(IMAGE)}, SUM({written(LINK)}) AS {written(SCRIPT)} FROM {source}"
    console.registry.follow(f"{grouped} GROUP BY {written(IMAGE)} -- {SCRIPT}", IMAGE)
    console.registry.follow(f"SELECT * FROM {source} -- {IMAGE}", SCRIPT)
    rows = [
        {IMAGE: payload, LINK: float(second), "ts": START + timedelta(seconds=second)}
        for second in range(30)
        for payload in PAYLOADS
    ]
    console.push(SCRIPT, rows)
    yield console
    console.close()


def unharmed(page: Page) -> bool:
    scripts = "[...document.scripts].every((each) => each.src.endsWith('/static/main.js'))"
    images = "[...document.images].every((each) => each.src.endsWith('/static/favicon.svg'))"
    links = "[...document.links].every((each) => each.href.startsWith('http'))"
    return bool(page.evaluate(f"window.harmed === undefined && {scripts} && {images} && {links}"))


@pytest.mark.parametrize("name", [IMAGE, SCRIPT])
def test_names_values_and_texts_of_queries_are_text(
    hostile: Console, open_page: Callable[..., Page], name: str
) -> None:
    page = open_page(hostile)
    page.get_by_role("link", name=name, exact=False).first.click()
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    result = page.get_by_role("region", name="Result now")
    for payload in PAYLOADS:
        expect(result.get_by_role("cell", name=payload, exact=True).first).to_be_visible()
    expect(result.get_by_role("columnheader").first).to_have_text(IMAGE)
    page.locator(".chart").hover()
    page.get_by_role("tab", name="Changes").click()
    changes = page.get_by_role("region", name="Changes, newest first")
    expect(changes).to_contain_text(IMAGE)
    page.get_by_role("tab", name="Text and plan").click()
    expect(page.get_by_label("Text", exact=True)).to_contain_text("--")
    assert unharmed(page)


@pytest.mark.parametrize("view", ["windows", f"history/{quote(SCRIPT, safe='')}", "streams"])
def test_names_are_text_in_every_view(
    hostile: Console, open_page: Callable[..., Page], view: str
) -> None:
    page = open_page(hostile, view)
    expect(page.locator("main")).to_contain_text(SCRIPT)
    # What the view has asked for stands on the page.
    expect(page.get_by_role("img").first).to_be_visible()
    page.evaluate(TWO_FRAMES)
    assert unharmed(page)


def test_what_is_typed_and_what_is_said_of_it_is_text(
    hostile: Console, open_page: Callable[..., Page]
) -> None:
    page = open_page(hostile)
    page.get_by_role("textbox", name="Query text").click()
    page.keyboard.insert_text(f"SELECT {written(SCRIPT)} FROM {written(SCRIPT)} [1 MINUTE]")
    wrong = page.locator(".verdict.problem")
    expect(wrong).to_contain_text(SCRIPT)
    page.locator(".cm-lintRange-error").first.hover()
    expect(page.locator(".cm-tooltip-lint")).to_contain_text("there is no column")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("SELECT ")
    page.keyboard.press("Control+Space")
    expect(page.get_by_role("option", name=IMAGE).first).to_be_visible()
    assert unharmed(page)


def test_an_address_with_a_script_in_it_is_text(
    hostile: Console, open_page: Callable[..., Page]
) -> None:
    page = open_page(hostile, "queries/%3Cimg%20src%3Dx%20onerror%3Dwindow.harmed%3D2%3E")
    expect(page.get_by_text("There is no query named <img src=x")).to_be_visible()
    assert unharmed(page)
