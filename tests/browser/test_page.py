"""The page as a whole: nothing goes wrong in it, for anybody."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from support.servers.console import Console

pytestmark = pytest.mark.browser

VIEWS = ("queries", "windows", "history", "streams")
HEADS = {"queries": "means", "windows": "Windows", "history": "History", "streams": "Row ledger"}


def show(page: Page, view: str) -> None:
    page.get_by_role("navigation", name="Views").get_by_role("link", name=view.title()).click()
    expect(page.get_by_role("heading", name=HEADS[view], exact=True)).to_be_visible()


def test_every_view_loads_without_errors_from_this_server_alone(
    console: Console, open_page: Callable[..., Page]
) -> None:
    page = open_page(console)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    for view in VIEWS:
        show(page, view)
    own = urlsplit(console.server.url).netloc
    assert {urlsplit(url).netloc for url in asked if not url.startswith("data:")} == {own}
    assert any(url.endswith("/static/vendor/codemirror.js") for url in asked)


def test_the_token_is_exchanged_for_a_cookie_that_scripts_cannot_read(
    console: Console, page: Page
) -> None:
    assert page.url == console.server.url
    (cookie,) = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert page.evaluate("document.cookie") == ""
    assert console.server.secrets.token not in page.content()


def test_without_the_token_it_stays_locked(console: Console, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    answer = page.goto(console.server.url)
    assert answer is not None
    assert answer.status == 401
    expect(page.get_by_role("heading", name="This console is locked")).to_be_visible()
    context.close()


@pytest.mark.parametrize("width", [375, 1024, 1440])
def test_no_view_is_wider_than_the_screen(
    console: Console, open_page: Callable[..., Page], width: int
) -> None:
    page = open_page(console, viewport={"width": width, "height": 812})
    for view in VIEWS:
        show(page, view)
        expect(page.locator("main").get_by_role("img").first).to_be_visible()
        page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_follows_the_machine_in_light_and_dark(
    console: Console, open_page: Callable[..., Page], scheme: str
) -> None:
    page = open_page(console, color_scheme=scheme)
    page.get_by_role("link", name="means").wait_for()
    assert is_dark(page) == (scheme == "dark")
    page.emulate_media(color_scheme="light" if scheme == "dark" else "dark")
    other = "light" if scheme == "dark" else "dark"
    expect(page.locator(f'html[data-theme="{other}"]')).to_have_count(1)
    assert is_dark(page) == (other == "dark")


def test_it_misses_no_change_of_the_machine_while_it_redraws(
    console: Console, open_page: Callable[..., Page]
) -> None:
    page = open_page(console, color_scheme="light")
    page.get_by_role("link", name="means").wait_for()
    # A view that is left and entered draws anew, with the theme as it is at that moment. Each asks
    # for what it shows: much faster, and a busy machine cannot answer all of them.
    page.evaluate(
        """setInterval(() => { location.hash = location.hash === "#/windows" ? "#/queries"
        : "#/windows"; }, 10)"""
    )
    for scheme in ("dark", "light") * 10:
        page.emulate_media(color_scheme=scheme)
        expect(page.locator(f'html[data-theme="{scheme}"]')).to_have_count(1)


def test_the_reader_can_choose_and_the_choice_is_kept(page: Page) -> None:
    page.get_by_role("button", name="Colours: system").click()
    page.get_by_role("button", name="Colours: light").click()
    assert is_dark(page)
    page.reload()
    page.get_by_role("button", name="Colours: dark").wait_for()
    assert is_dark(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_the_contrast_of_wcag_aa(
    console: Console, open_page: Callable[..., Page], scheme: str
) -> None:
    page = open_page(console, color_scheme=scheme)
    page.get_by_role("link", name="means").wait_for()
    for text in ("text", "muted", "accent", "good", "warn", "bad"):
        for ground in ("bg", "surface", "well", "hover"):
            assert contrast(page, text, ground) >= 4.5, (text, ground)
    for tone in ("good", "warn", "bad"):
        assert contrast(page, tone, f"{tone}-soft") >= 4.5, tone
        assert contrast(page, "text", f"{tone}-soft") >= 4.5, tone
    assert contrast(page, "on-accent", "accent") >= 4.5


def is_dark(page: Page) -> bool:
    return luminance(page, "bg") < 0.2


def contrast(page: Page, text: str, ground: str) -> float:
    light, dark = sorted((luminance(page, text), luminance(page, ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(page: Page, name: str) -> float:
    """Relative luminance as WCAG defines it, of a colour of the theme."""
    style = "getComputedStyle(document.documentElement)"
    colour = page.evaluate(f"{style}.getPropertyValue('--{name}').trim()")
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
