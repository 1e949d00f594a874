"""Takes the pictures of the console: python docs/pictures/photograph_console.py.

Needs what `make test-browser` installs. Unlike the drawings these differ a little each time.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from windrow.apps.console.server import Address, ConsoleServer
from windrow.apps.demo.live_building import LiveBuilding

FOLDER = Path(__file__).parent
PACE = 240.0  # seconds of event time in a second, until the pictures are taken
EARLIEST = "09:45"
TEXT = """\
SELECT temp.location, COUNT(*) AS pairs
FROM temp [5 MINUTES], smoke [5 MINUTES]
WHERE temp.location = smoke.location
  AND smoke.strength > 0.6
GROUP BY temp.location
EVERY (5 SECONDS)"""
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]


def main() -> None:
    """Plays the building, and looks at it."""
    with building_served() as server, sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        query(opened(browser, server, "queries/alarms", 1200, 810, "light"))
        history(opened(browser, server, "history", 1200, 640, "dark"))
        phone(opened(browser, server, "windows", 375, 720, "light"))
        browser.close()


@contextmanager
def building_served() -> Iterator[ConsoleServer]:
    """The console of the demo, in a thread."""
    scene = LiveBuilding(pace=PACE, read_only=False)
    server = ConsoleServer(scene.registry, Address())
    serving = threading.Thread(target=server.run)
    serving.start()
    scene.start()
    try:
        yield server
    finally:
        server.stop()
        serving.join()
        scene.close()


def opened(
    browser: Browser, server: ConsoleServer, view: str, width: int, height: int, scheme: str
) -> Page:
    """A view, once enough has happened in the building."""
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.set_default_timeout(180_000)
    page.goto(server.url_with_token)
    page.goto(f"{server.url}#/{view}")
    clocks = "[...document.querySelectorAll('.top dd')].map((each) => each.textContent.slice(11))"
    late = f"() => {clocks}.some((clock) => clock > '{EARLIEST}')"
    page.wait_for_function(late)
    return page


def query(page: Page) -> None:
    """A query, its answers, and another one that is being written."""
    page.get_by_role("textbox", name="Query text").click()
    page.keyboard.insert_text(TEXT)
    page.get_by_label("Plan").wait_for()
    page.locator("h2.name").click()
    page.get_by_role("region", name="Result now").wait_for()
    take(page, "console")


def history(page: Page) -> None:
    """The past of one room, by the minute."""
    page.locator(".history-chart .u-over").wait_for()
    page.get_by_role("img", name="Tree of").wait_for()
    take(page, "console-history")


def phone(page: Page) -> None:
    """Windows on a small screen."""
    page.get_by_role("row", name="rooms.temp").first.wait_for()
    take(page, "console-phone")


def take(page: Page, name: str) -> None:
    """As it is seen, without what is below."""
    page.wait_for_timeout(1500)
    page.screenshot(path=FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()
