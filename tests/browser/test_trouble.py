"""The page says what is wrong: rows that were not taken, sources that fail; and it can be left."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from support.servers.console import START, Console, Served
from windrow.apps.console.embedded_runner import EmbeddedRunner
from windrow.apps.console.registry import Registry
from windrow.embedded.session import EmbeddedSession
from windrow.errors import AdmissionError, DataError

pytestmark = pytest.mark.browser

COUNT = "SELECT COUNT(*) AS n FROM temp [1 MINUTE]"


@pytest.fixture
def quiet() -> Iterator[Console]:
    """A console in which all is well, until a test does something about it."""
    console = Console({"n": COUNT})
    console.play(60)
    yield console
    console.close()


def look(page: Page, name: str) -> None:
    """Keeps a picture for whoever has asked for it."""
    folder = os.environ.get("WINDROW_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png")


def test_where_all_is_well_there_is_no_banner(
    quiet: Console, open_page: Callable[..., Page]
) -> None:
    page = open_page(quiet)
    page.locator("section.query").wait_for()
    expect(page.locator(".trouble")).to_have_count(0)


# That the result lacks rows is also a warning in the process of the console.
@pytest.mark.filterwarnings("ignore:query 'n'. the result lacks rows:RuntimeWarning")
def test_rows_that_were_refused_are_told_with_the_remedy(open_page: Callable[..., Page]) -> None:
    session = EmbeddedSession("60 KB")
    session.stream("temp", "ts timestamp, celsius double", time="ts")
    registry = Registry(EmbeddedRunner(session), "short of memory")
    registry.follow(COUNT, "n")
    # What is pushed is refused for the most part.
    rows = [{"ts": START + timedelta(milliseconds=n), "celsius": 20.0} for n in range(30_000)]
    with pytest.raises(AdmissionError) as refused:
        session.push("temp", rows)
    registry.note_problem(refused.value)
    served = Served(registry)
    with closing(served):
        page = open_page(served)
        banner = page.locator(".trouble.bad")
        expect(banner).to_contain_text(re.compile(r"[\d,]+ of 30,000 rows of temp \(\d+ %\) were"))
        expect(banner).to_contain_text("were refused: these rows do not fit")
        expect(banner).to_contain_text("Connect with memory=")
        expect(banner).to_contain_text("Answers of n lack rows that were refused.")
        look(page, "refused")
        banner.get_by_role("link", name="temp").click()
        expect(page.locator("#ledger-head")).to_be_visible()
        expect(banner).to_be_visible()
    session.stop()


def test_late_rows_are_a_warning(quiet: Console, open_page: Callable[..., Page]) -> None:
    page = open_page(quiet)
    late = [{"location": "lab", "ts": START - timedelta(hours=1), "celsius": 1.0} for _ in range(3)]
    quiet.push("temp", late)
    banner = page.locator(".trouble.warn")
    expect(banner).to_contain_text("Some rows were set aside.")
    expect(banner).to_contain_text(
        re.compile(r"3 of 183 rows of temp .* arrived after the watermark")
    )
    expect(banner).to_contain_text("Give the stream a larger LATENESS.")
    look(page, "late")


def test_a_source_that_fails_is_told(quiet: Console, open_page: Callable[..., Page]) -> None:
    page = open_page(quiet)
    for number in range(3):
        problem = DataError("WD999", f"the file {number}.csv cannot be read", hint="mend it")
        quiet.registry.note_problem(problem)
    banner = page.locator(".trouble.bad")
    expect(banner).to_contain_text("The file 2.csv cannot be read. (the latest of 3) Mend it.")


def test_a_query_that_failed_is_told_on_every_view(
    quiet: Console, open_page: Callable[..., Page]
) -> None:
    page = open_page(quiet, "windows")
    quiet.registry.query("n").error = DataError("WD999", "its state is damaged", hint="begin anew")
    expect(page.locator(".trouble.bad")).to_contain_text("n failed.")


def test_queries_whose_sources_have_ended_are_not_shown_as_running(
    quiet: Console, open_page: Callable[..., Page]
) -> None:
    page = open_page(quiet)
    expect(page.locator("section.query .state")).to_have_text("running")
    quiet.session.finish()
    quiet.registry.note_end()
    expect(page.locator("section.query .state")).to_have_text("ended")
    look(page, "ended")


def test_who_logs_out_is_out(
    quiet: Console, open_page: Callable[..., Page], troubles: list[str]
) -> None:
    page = open_page(quiet)
    page.locator("section.query").wait_for()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="This console is locked")).to_be_visible()
    assert page.context.cookies() == []
    page.close()  # what is still refused is reported no more
    assert all("401" in each or "MIME" in each for each in troubles)
    troubles.clear()  # that it is refused is what a browser reports
