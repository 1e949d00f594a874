"""Level C on the page: real windows that take turns under a real budget, drawn as they do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from support.servers.console import Served
from support.turning_session import STREAMS, TurningSession

pytestmark = pytest.mark.browser

Turning = tuple[TurningSession, Served]


@pytest.fixture(scope="module")
def turning() -> Iterator[Turning]:
    """Windows that have begun to take turns."""
    session = TurningSession()
    session.play(320)
    served = Served(session.registry)
    yield session, served
    served.close()
    session.session.stop()


def time_line(page: Page, stream: str) -> Locator:
    return page.get_by_role("img", name=re.compile(f"^{stream}: "))


def test_windows_grow_in_their_turns_and_become_narrow_again(
    turning: Turning, open_page: Callable[..., Page]
) -> None:
    session, served = turning
    page = open_page(served, "windows")
    drawn: dict[str, set[str]] = {stream: set() for stream in STREAMS}
    standing: dict[str, list[str]] = {stream: [] for stream in STREAMS}
    for _ in range(30):  # a little more than the time between two turns
        session.play(2)
        at = page.evaluate(NOW, session.seconds)
        for stream in STREAMS:
            line = time_line(page, stream)
            expect(line.locator("xpath=..")).to_contain_text(at)
            standing[stream].append(str(line.get_attribute("aria-label")))
            drawn[stream].add(str(line.evaluate("(canvas) => canvas.toDataURL()")))
    for stream in STREAMS:
        widths = [width_s(label) for label in standing[stream]]
        assert max(widths) - min(widths) > 10, widths
        assert {"in a turn now", "between two now"} == {
            label.rpartition(", ")[2] for label in standing[stream]
        }
        assert len(drawn[stream]) > 20, "the picture moves"


def test_windows_and_queries_say_their_level(
    turning: Turning, open_page: Callable[..., Page]
) -> None:
    session, served = turning
    while set(levels(session)) != {"C"}:  # between two decisions what is tolerated may have changed
        session.play(2)
        assert session.seconds < 1000, levels(session)
    page = open_page(served, "windows")
    shown = page.get_by_role("region", name="Windows").get_by_text("C", exact=True)
    expect(shown).to_have_count(2)
    page.goto(f"{served.server.url}#/queries/wide_door")
    expect(page.locator(".query .panel-head .level")).to_have_text("C")
    expect(page.locator(".query .facts").first).to_contain_text("take turns at being wide")


def levels(session: TurningSession) -> list[str]:
    return [str(row["level"]) for row in session.session.windows().to_pylist()]


# The time of day that the page shows for the instant just before so many seconds.
NOW = """(seconds) =>
  new Date(Date.UTC(2026, 0, 1) + seconds * 1000 - 1).toISOString().slice(11, 19)"""


def width_s(label: str) -> float:
    """The width that a label tells, in seconds: "door: 1 min 38 s of 1 min 40 s, ..."."""
    told = label.partition(": ")[2].partition(" of ")[0]
    minutes, seconds = re.search(r"(\d+) min", told), re.search(r"([\d.]+) s", told)
    return 60 * int(minutes[1] if minutes else 0) + float(seconds[1] if seconds else 0)
