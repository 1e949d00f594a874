"""The page of functions and types lists what the code has, and its examples give what they show."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from support.functions_page import written
from windrow import schema, type_names
from windrow.column_types import ARROW_TYPES
from windrow.plan.binder import bind
from windrow.plan.cast_targets import CAST_TARGETS
from windrow.plan.catalog import Catalog
from windrow.rows.evaluate import evaluate
from windrow.scalar_functions import AREAS, SCALAR_NAMES
from windrow.schema import StreamSchema, columns_of
from windrow.sql import parse_query
from windrow.sql.functions import AGGREGATES, SCALARS
from windrow.sql.scalar import _BINARY, _COMPARISONS, _READERS
from windrow.time_types import time_type_named

PAGE = (Path(__file__).parents[1] / "docs" / "reference" / "functions.md").read_text("utf-8")
CELL = re.compile(r"(?<!\\)\|")
WORD = re.compile(r"`(\w+)")
ROW = {
    "ts": datetime(2026, 1, 1, 9, 30, tzinfo=UTC),
    **{"t": "Lab 203", "i": -7, "x": 2.5, "d": Decimal("12.34")},
}
INTEGERS = {"TINYINT", "SMALLINT", "INT", "BIGINT"}
NUMBERS = INTEGERS | {"FLOAT", "DOUBLE", "DECIMAL"}


def table(title: str) -> list[list[str]]:
    """The cells of the table under a title, without its head."""
    section = PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip().replace("\\|", "|") for cell in CELL.split(line)[1:-1]] for line in lines]


def test_all_functions_are_listed() -> None:
    assert written(PAGE) == PAGE, "run: python -m support.functions_page"


def test_the_parser_knows_no_other_functions() -> None:
    assert {name.lower() for name in SCALARS} == set(SCALAR_NAMES)


@pytest.mark.parametrize("area", AREAS)
def test_every_function_has_an_example_that_gives_its_value(area: str) -> None:
    functions = AREAS[area]
    found = values_of([each.example for each in functions]) if functions else []
    for function, value in zip(functions, found, strict=True):
        names = [function.name, *function.also]
        assert any(f"{name.upper()}(" in function.example for name in names), function.name
        assert ("NULL" if value is None else str(value)) == function.value, function.name


@pytest.mark.parametrize(
    ("example", "value"),
    [
        row[-2:]
        for title in ("Replacements for other functions", "Operators")
        for row in table(title)
    ],
)
def test_an_example_gives_its_value(example: str, value: str) -> None:
    found = value_of(example.strip("`"))
    assert ("NULL" if found is None else str(found)) == value


@pytest.mark.parametrize(
    ("expression", "value"),
    [("GREATEST(NULL, 1)", 1), ("LEAST(2, NULL)", 2), ("ABS(NULL)", None), ("IF(NULL, 1, 2)", 2)],
)
def test_null_in_functions(expression: str, value: int | None) -> None:
    assert value_of(expression) == value


def value_of(expression: str) -> object:
    """What the expression gives for the row of the page."""
    return values_of([expression])[0]


def values_of(expressions: list[str]) -> list[object]:
    """What each expression gives for the row of the page."""
    columns = columns_of("ts timestamp, t string, i int, x double, d decimal(10, 2)")
    items = ", ".join(f"{text} AS v{place}" for place, text in enumerate(expressions))
    plan = bind(parse_query(f"SELECT {items} FROM s"), Catalog(StreamSchema("s", columns, "ts")))
    row = {column.name: pa.array([ROW[column.name]], column.type.arrow) for column in columns}
    return [
        evaluate(item.expression, lambda part: row[part.column], 1)[0].as_py()
        for item in plan.select
    ]


def test_all_operators_are_listed() -> None:
    listed = set(re.findall(r"`([^`]+)`", " ".join(row[0] for row in table("Operators"))))
    signs = {*_BINARY, *_COMPARISONS, "/", "||"} | set(_READERS)
    assert signs <= listed


def test_all_aggregates_are_listed() -> None:
    names = {name for row in table("Aggregates") for name in WORD.findall(row[0])}
    assert names == AGGREGATES


def test_all_types_are_listed() -> None:
    rows = table("Types")
    named = {re.split(r"[(<]", row[0].strip("`"))[0]: row for row in rows}
    assert set(named) == {*ARROW_TYPES, "DECIMAL", "ARRAY", "MAP", "STRUCT"}
    for name, row in named.items():
        if name in ("ARRAY", "MAP", "STRUCT"):
            meant = [schema.type_named(text) for text in re.findall(r"`([^`]+)`", row[1])]
            assert {kind.name for kind in meant} == {name}
            continue
        also = {word for word, kind in type_names._NAMES.items() if kind.name == name}
        also = {"numeric", "dec"} if name == "DECIMAL" else also - {name.lower()}
        spelled = re.findall(r"`([^`]+)`", row[1])
        if time_type_named(name) is None:
            assert set(spelled) == also
        else:
            assert {schema.type_named(word).name for word in spelled} <= {name}
        if name != "DECIMAL":
            assert row[2] == str(ARROW_TYPES[name])
    assert str(schema.type_named("numeric")) == "DECIMAL(10, 0)"


def test_all_casts_are_listed() -> None:
    for sources, targets in table("Casts"):
        meant = {word for word in targets.split(", ") if word.isupper()}
        meant |= NUMBERS if "any number" in targets else set()
        for source in sources.split(", "):
            assert meant - {source} == CAST_TARGETS[source] - {source}, source
    assert sum(len(row[0].split(", ")) for row in table("Casts")) == len(CAST_TARGETS)
