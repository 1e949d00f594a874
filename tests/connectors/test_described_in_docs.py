"""The pages name every connector and every option that a script can give it."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from windrow.connectors import registry

DOCS = Path(__file__).parents[2] / "docs"
TABLES = {"source": (registry.SOURCES, "SOURCES"), "sink": (registry.SINKS, "SINKS")}
NAMED = [(kind, name) for kind, (modules, _) in TABLES.items() for name in modules]


def rows_under(page: str, title: str) -> dict[str, str]:
    """The rows of the table whose first heading is the title, by the name they begin with."""
    text = (DOCS / page).read_text(encoding="utf-8")
    (table,) = re.findall(rf"^\| {title} \|.*\n\|[ |-]+\n((?:\|.*\n)+)", text, re.M)
    rows = [line.split("|", 2) for line in table.splitlines()]
    return {name: told for _, names, told in rows for name in re.findall(r"`(\w+)", names)}


def options_of(kind: str, name: str) -> tuple[str, ...]:
    modules, table = TABLES[kind]
    options: tuple[str, ...] = getattr(importlib.import_module(modules[name]), table)[name].options
    return options


@pytest.mark.parametrize(("kind", "name"), NAMED)
def test_the_page_of_scripts_has_every_option(kind: str, name: str) -> None:
    told = rows_under("reference/cli.md", kind)[name]
    rest = options_of(kind, name)[1 if name != "rate" else 0 :]  # the first stands in its brackets
    assert [option for option in rest if f"`{option.rstrip('*')}" not in told] == []


@pytest.mark.parametrize("kind", TABLES)
def test_the_page_of_scripts_has_no_other(kind: str) -> None:
    assert rows_under("reference/cli.md", kind).keys() == TABLES[kind][0].keys()


def test_the_page_of_guarantees_says_what_a_replayed_batch_does() -> None:
    assert registry.SINKS.keys() <= rows_under("explanation/guarantees.md", "sink").keys()
