"""The server goes and comes back; the page says so, and goes on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from support.servers.console import QUERIES, Console

pytestmark = pytest.mark.browser


def test_the_page_reconnects_and_begins_anew(
    open_page: Callable[..., Page], troubles: list[str]
) -> None:
    first = Console(QUERIES)
    first.play(30)
    page = open_page(first)
    expect(page.get_by_role("region", name="Result now")).to_contain_text("office")
    port, secrets = first.server.port, first.server.secrets
    first.close()
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    expect(page.get_by_role("alert")).to_contain_text("What is shown is from")
    expect(page.get_by_role("region", name="Result now")).to_contain_text("office")
    second = Console(QUERIES, port=port, secrets=secrets)
    try:
        second.play(50)
        page.get_by_role("button", name="Try now").click()
        expect(page.get_by_role("alert")).to_have_count(0)
        expect(page.get_by_role("img", name="49 instants")).to_be_visible()
        second.play(10)
        expect(page.get_by_role("img", name="59 instants")).to_be_visible()
    finally:
        second.close()
    assert all("ERR_CONNECTION_REFUSED" in each for each in troubles), troubles
    troubles.clear()


def test_another_console_at_the_same_place_locks_the_page(
    open_page: Callable[..., Page], troubles: list[str]
) -> None:
    first = Console({})
    page = open_page(first)
    expect(page.get_by_text("No query runs yet")).to_be_visible()
    port = first.server.port
    first.close()
    second = Console({}, port=port)
    try:
        expect(page.get_by_role("alert")).to_contain_text("The console has locked this page")
    finally:
        second.close()
    troubles.clear()  # refused connections, and 401
