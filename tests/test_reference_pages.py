"""The reference of Python lists every public call, with each of its parameters."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import windrow
from windrow import sinks, sources
from windrow.embedded.session import EmbeddedSession
from windrow.spark.driver.query import SparkQuery
from windrow.spark.driver.session import SparkWindrowSession

PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "api.md").read_text("utf-8")
# What runners and sinks call of each other.
INSIDE = {
    "sink_of",
    "source_given",
    "add_function",
    "feeding",
    "outlet_for",
    "outlet_of",
    "outlet_on",
}
ON_SPARK = ("start", "await_end", "progress")

CALLS = [
    *((kind, name) for kind in (EmbeddedSession, SparkWindrowSession) for name in dir(kind)),
    *((windrow.Session, name) for name in dir(windrow.Session)),
    *((windrow.Query, name) for name in dir(windrow.Query)),
    *((SparkQuery, name) for name in ON_SPARK),
    *((module, name) for module in (sinks, sources) for name in module.__all__ if name.islower()),
    (windrow, "connect"),
]


@pytest.mark.parametrize(
    ("owner", "name"),
    [(owner, name) for owner, name in CALLS if not name.startswith("_") and name not in INSIDE],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_a_public_call_is_listed_with_its_parameters(owner: object, name: str) -> None:
    lines = re.findall(rf"^(?:\|.*`|## windrow\.){name}\b.*$", PAGE, re.M)
    assert lines, f"docs/reference/api.md does not list {name}"
    called = getattr(owner, name)
    if callable(called):
        parameters = [each for each in inspect.signature(called).parameters if each != "self"]
        lacking = [each for each in parameters if not any(each in line for line in lines)]
        assert lacking == []
        assert [each for each in parameters if is_told_otherwise(called, each, lines)] == []


def is_told_otherwise(called: object, parameter: str, lines: list[str]) -> bool:
    """Whether the page has defaults of the parameter, and none of them is the code's."""
    told = re.findall(rf'\b{parameter}=("[^"]*"|\(\)|[\w.-]+)(?=[,)])', " ".join(lines))
    default = inspect.signature(called).parameters[parameter].default
    return bool(told) and default not in [ast.literal_eval(each) for each in told]
