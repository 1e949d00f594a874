"""A headless Chromium, and pages that fail a test when anything goes wrong in them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from support.servers.console import QUERIES, Console

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# Only `make test-browser` installs what drives a browser; without it these cannot even be read.
collect_ignore_glob = [] if find_spec("playwright") else ["test_*.py"]

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
# Every breach of the policy is also an event, which knows more than the message on the console.
NOTE_BREACHES = """
addEventListener("securitypolicyviolation", (event) =>
  console.error("CSP: " + event.violatedDirective + " " + event.blockedURI));
"""


def chromium_path() -> str:
    """The browser of this machine."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    assert found, "no Chromium on this machine: see requirements/find-chromium.sh"
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - may not be there, see above

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def console() -> Iterator[Console]:
    """One for the tests of a file, with two minutes of readings in it."""
    console = Console(QUERIES)
    console.play(120)
    yield console
    console.close()


@pytest.fixture
def troubles() -> list[str]:
    """What pages reported: errors of scripts, of requests and of the policy."""
    return []


@pytest.fixture
def open_page(browser: Browser, troubles: list[str]) -> Iterator[Callable[..., Page]]:
    """Opens a console by its token; at the end nothing may have gone wrong in its pages."""
    contexts = []

    def opened(console: Console, view: str = "", **options: object) -> Page:
        options.setdefault("viewport", {"width": 1280, "height": 900})
        context = browser.new_context(**options)
        contexts.append(context)
        context.set_default_timeout(20_000)
        context.add_init_script(NOTE_BREACHES)
        page = context.new_page()
        page.on("console", lambda said: troubles.append(said.text) if said.type == "error" else 0)
        page.on("pageerror", lambda error: troubles.append(f"{error.message}\n{error.stack}"))
        page.goto(console.server.url_with_token)
        if view:
            page.goto(f"{console.server.url}#/{view}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture
def page(console: Console, open_page: Callable[..., Page]) -> Page:
    """The console's page, which has heard from the server."""
    page = open_page(console)
    page.get_by_role("link", name="means").wait_for()
    return page
