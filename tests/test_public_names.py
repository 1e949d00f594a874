"""The public names: there are these and no others, and each shows an example of its use."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
from pathlib import Path

import pytest

import windrow
from windrow import sinks, sources
from windrow.embedded import EmbeddedHistoryQuery, EmbeddedQuery, EmbeddedSession
from windrow.spark.driver.query import SparkQuery
from windrow.spark.driver.session import SparkWindrowSession

REFERENCE = Path(__file__).parents[1] / "docs" / "reference" / "api.md"
ON_SPARK = (SparkWindrowSession, SparkQuery)
# What only passes a call on, or is there for scripts and tests of sinks.
PARTS = {"FileSource", "KafkaSource", "KafkaSink", "Postgres", "Sink", "Source"}


def test_public_names_are_these() -> None:
    assert sorted(windrow.__all__) == [
        *("AdmissionError", "BindingError", "CheckpointError", "DataError", "Query"),
        *(
            "QuerySyntaxError",
            "Session",
            "UnsupportedError",
            "WindrowError",
            "WindrowWarning",
            "__version__",
        ),
        *("connect", "dataframes", "notebook", "sinks", "sources"),
    ]
    assert all(hasattr(windrow, name) for name in windrow.__all__)


def calls_in(title: str) -> list[str]:
    """The names of the calls that a table of the reference lists under a title."""
    text = REFERENCE.read_text(encoding="utf-8")
    section = re.search(rf"^## {title}\n(.*?)(?=^## )", text, re.M | re.S)
    return re.findall(r"^\| `(\w+)\(", section[1], re.M)


def shows_example(thing: object) -> bool:
    text = inspect.getdoc(thing) or ""
    if doctest.DocTestParser().get_examples(text):
        return True
    return any(ast.parse(code).body for code in plain_examples(text))


def plain_examples(text: str) -> list[str]:
    """Examples that need Spark: they are parsed here, and their calls run in the tests of Spark."""
    found = re.findall(r"^Example::\n\n((?:    .*\n?)+)", text, re.M)
    return [inspect.cleandoc("\n" + block) for block in found]


METHODS = [
    *(
        (kind, name)
        for kind in (EmbeddedSession, SparkWindrowSession)
        for name in calls_in("Session")
    ),
    *(
        (kind, name)
        for kind in (EmbeddedQuery, EmbeddedHistoryQuery, SparkQuery)
        for name in calls_in("Query")
    ),
]


@pytest.mark.parametrize(
    ("kind", "name"), [each for each in METHODS if hasattr(*each)], ids=lambda each: str(each)
)
def test_every_call_of_the_reference_shows_an_example(kind: type, name: str) -> None:
    if name == "start" and kind not in ON_SPARK:
        return  # refused in this process
    assert shows_example(getattr(kind, name))


def test_the_reference_lists_the_calls() -> None:
    named = {name for _, name in METHODS}
    product = {
        *("stream", "query", "push", "advance", "finish", "windows", "queries", "decisions"),
        *("late", "ledger", "history", "ask", "histories", "metrics", "stop", "start"),
        *("answers", "result", "changes", "explain", "await_end", "progress"),
    }
    assert product <= named


NAMED = [
    windrow.connect,
    windrow.Query,
    windrow.Session,
    windrow.WindrowError,
    windrow.dataframes.convert,
    windrow.notebook.chart,
    windrow.notebook.show,
    *(EmbeddedSession, EmbeddedHistoryQuery, SparkWindrowSession, SparkQuery),
    *(getattr(sinks, name) for name in sinks.__all__ if name not in PARTS),
    *(getattr(sources, name) for name in sources.__all__ if name not in PARTS),
]


@pytest.mark.parametrize("thing", NAMED, ids=lambda each: f"{each.__module__}.{each.__qualname__}")
def test_every_name_shows_an_example(thing: object) -> None:
    assert shows_example(thing)


def test_an_example_that_is_missing_or_wrong_is_found() -> None:
    def without() -> None:
        """Only words."""

    def wrong() -> None:
        """Words.

        Example::

            session.stream(
        """

    assert not shows_example(without)
    with pytest.raises(SyntaxError):
        shows_example(wrong)
