"""Every scalar function against the values that Spark gave, kept in function_cases/golden.json."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from support.function_cases import CASES, DIFFERENCES
from support.function_cases.arguments import COLUMNS, ROWS, arguments, declared
from support.function_cases.differences import GENERAL
from support.spark_function_values import ERROR, encoded, golden
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.expressions import Expr
from windrow.rows.evaluate import evaluate_checked
from windrow.scalar_functions import SCALAR_NAMES
from windrow.schema import StreamSchema, columns_of, type_named
from windrow.sql import parse_query

CATALOG = Catalog(StreamSchema("s", columns_of(f"time timestamp, {declared()}"), "time"))
GOLDEN = golden()
TABLE = {
    name: pa.array(values, type_named(COLUMNS[name][0]).arrow)
    for name, values in arguments().items()
}


def test_all_cases_are_known_to_spark() -> None:
    missing = set(CASES) - set(GOLDEN)
    assert not missing, "run: python -m support.spark_function_values"
    assert not set(GOLDEN) - set(CASES)


def test_every_name_of_a_function_has_a_case() -> None:
    written = " ".join(CASES).lower()
    of_spark = [name for name, each in SCALAR_NAMES.items() if "Spark has none" not in each.differs]
    assert [name for name in of_spark if f"{name}(" not in written] == []


def test_the_page_of_functions_says_what_differs() -> None:
    for text, difference in DIFFERENCES.items():
        name = text.partition("(")[0]
        known = SCALAR_NAMES.get(name)
        assert difference.reason
        assert known is None or known.differs or difference.reason in GENERAL, text


@pytest.mark.parametrize("text", CASES)
def test_a_function_gives_what_spark_gives(text: str) -> None:
    expression = bound(text)
    wrong = [
        (row, got, wanted)
        for row, (got, wanted) in enumerate(
            zip(ours(expression), GOLDEN[text]["values"], strict=True)
        )
        if not same(in_order(got, text), in_order(wanted, text))
    ]
    allowed = DIFFERENCES[text].rows if text in DIFFERENCES else 0
    shown = [(got, "Spark:", wanted, arguments_of(text, row)) for row, got, wanted in wrong[:6]]
    assert len(wrong) <= allowed, shown
    kinds = expression.type.spark, GOLDEN[text]["type"]
    assert text in DIFFERENCES or same_type(*kinds), kinds


def bound(text: str) -> Expr:
    return bind(parse_query(f"SELECT {text} AS x FROM s"), CATALOG).select[0].expression


def ours(expression: Expr) -> list[object]:
    found, faults = evaluate_checked(expression, lambda part: TABLE[part.column], ROWS)  # type: ignore[union-attr]
    assert found.type == expression.type.arrow
    found.validate(full=True)
    values = [encoded(value) for value in python_values(found)]
    if faults is None:
        return values
    return [ERROR if flag else value for flag, value in zip(faults, values, strict=True)]


def python_values(array: pa.Array) -> list[object]:
    if pa.types.is_timestamp(array.type):
        return array.cast(pa.int64()).to_pylist()
    if pa.types.is_date(array.type):
        return array.cast(pa.int32()).to_pylist()
    return [as_spark_has_it(value, array.type) for value in array.to_pylist()]


class Struct(dict[str, object]):
    """A struct, which is no map."""

    def asDict(self) -> dict[str, object]:  # noqa: N802
        return self


def as_spark_has_it(value: Any, kind: pa.DataType) -> object:
    """Structs as rows, and maps in the order of their keys: those of Python have none."""
    if value is None or not pa.types.is_nested(kind):
        return value
    if pa.types.is_struct(kind):
        return Struct(
            {field.name: as_spark_has_it(value[field.name], field.type) for field in kind}
        )
    if pa.types.is_map(kind):
        return {key: as_spark_has_it(each, kind.item_type) for key, each in value}
    return [as_spark_has_it(each, kind.value_type) for each in value]


def in_order(value: Any, text: str) -> Any:
    """The entries of a map in one order; Spark hands them over in any."""
    is_map = GOLDEN[text]["type"].startswith("map<")
    return sorted(value, key=repr) if is_map and isinstance(value, list) else value


def same(got: Any, wanted: Any) -> bool:
    if isinstance(got, list) and isinstance(wanted, list):
        return len(got) == len(wanted) and all(map(same, got, wanted))
    if isinstance(got, dict) and isinstance(wanted, dict):
        return got.keys() == wanted.keys() and all(same(got[name], wanted[name]) for name in got)
    if isinstance(got, bool) or isinstance(wanted, bool) or got is None or wanted is None:
        return got is wanted
    if isinstance(got, float) and isinstance(wanted, (int, float)):
        return close(got, float(wanted))
    if isinstance(got, (int, str)) and isinstance(wanted, str) and got != wanted:
        return same_decimal(str(got), wanted)
    return bool(got == wanted)


def close(got: float, wanted: float) -> bool:
    if math.isnan(got) or math.isnan(wanted) or got == 0 == wanted:
        return str(got) == str(wanted)
    return got == wanted or math.isclose(got, wanted, rel_tol=1e-14)


def same_decimal(got: str, wanted: str) -> bool:
    try:
        return Decimal(got) == Decimal(wanted)
    except ArithmeticError:
        return False


def same_type(got: str, wanted: str) -> bool:
    return wanted == "void" or simple_type(got) == simple_type(wanted)


def simple_type(name: str) -> str:
    """The type with one name for all integers, and one for all decimals."""
    name = re.sub(r"\b(tinyint|smallint|bigint)\b", "int", name.replace("`", ""))
    return re.sub(r"decimal\(\d+,\d+\)", "decimal", name)


def arguments_of(text: str, row: int) -> dict[str, object]:
    used = [name for name in COLUMNS if name in text]
    return {name: arguments()[name][row] for name in used}
