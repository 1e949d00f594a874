"""How types are written, and what they are in Arrow, Spark and DuckDB."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.errors import BindingError
from windrow.schema import (
    BINARY,
    DOUBLE,
    INT,
    STRING,
    ColumnType,
    array,
    columns_of,
    decimal,
    map_of,
    struct,
    type_named,
    type_of_arrow,
)

SPELLINGS = {
    "VARCHAR(20)": STRING,
    "char(3)": STRING,
    "character varying(8)": STRING,
    "Text": STRING,
    "double precision": DOUBLE,
    "numeric(38, 4)": decimal(38, 4),
    "DECIMAL": decimal(10, 0),
    "bytes": BINARY,
    "VARBINARY(10)": BINARY,
    "array<int>": array(INT),
    "INT ARRAY": array(INT),
    "int[]": array(INT),
    "int[3][]": array(array(INT)),
    "list(int)": array(INT),
    "ARRAY<INT NOT NULL>": array(INT),
    "map<string,array<int>>": map_of(STRING, array(INT)),
    "MAP(VARCHAR, INTEGER)": map_of(STRING, INT),
    "ROW<a INT, `b c` STRING>": struct({"a": INT, "b c": STRING}),
    "ROW(a INT COMMENT 'x', b ROW(c INT))": struct({"a": INT, "b": struct({"c": INT})}),
    "struct<a:int,b:array<struct<c:int>>>": struct({"a": INT, "b": array(struct({"c": INT}))}),
}

PLAIN = [
    type_named(name)
    for name in (
        *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string"),
        *("binary", "timestamp", "date", "decimal(9, 2)", "decimal(38, 10)"),
    )
]


def nested_types() -> st.SearchStrategy[ColumnType]:
    names = st.lists(st.sampled_from("abcde"), min_size=1, max_size=3, unique=True)

    def larger(inner: st.SearchStrategy[ColumnType]) -> st.SearchStrategy[ColumnType]:
        def fields(listed: list[str]) -> st.SearchStrategy[ColumnType]:
            return st.fixed_dictionaries(dict.fromkeys(listed, inner)).map(struct)

        maps = st.builds(map_of, st.sampled_from(PLAIN), inner)
        return inner.map(array) | maps | names.flatmap(fields)

    return st.recursive(st.sampled_from(PLAIN), larger, max_leaves=6)


@pytest.mark.parametrize(("text", "kind"), SPELLINGS.items())
def test_spellings(text: str, kind: ColumnType) -> None:
    assert type_named(text) == kind


@given(nested_types())
def test_a_type_reads_back_from_all_its_names(kind: ColumnType) -> None:
    assert type_named(str(kind)) == kind
    assert type_named(kind.spark) == kind
    assert type_of_arrow(kind.arrow) == kind


def test_duckdb_knows_the_names() -> None:
    for kind in (*PLAIN, array(INT), map_of(STRING, array(BINARY)), struct({"a": INT})):
        duckdb.sql(f"SELECT CAST(NULL AS {kind.duckdb})")


def test_arrow_types_of_other_layouts() -> None:
    given_types = [
        (pa.large_list(pa.large_string()), array(STRING)),
        (pa.list_(pa.int32(), 3), array(INT)),
        (pa.large_binary(), BINARY),
        (pa.binary(16), BINARY),
        (pa.decimal256(38, 3), decimal(38, 3)),
        (pa.dictionary(pa.int8(), pa.string()), STRING),
    ]
    for kind, expected in given_types:
        assert type_of_arrow(kind) == expected


def test_columns_of_a_ddl_text() -> None:
    found = columns_of("a int not null, b: map<string, int> comment 'of b', `c d` text[]")
    assert [(each.name, str(each.type)) for each in found] == [
        ("a", "INT"),
        ("b", "MAP<STRING, INT>"),
        ("c d", "ARRAY<STRING>"),
    ]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("WB110", "array<money>"),
        ("WB110", "int(3)"),
        ("WB111", "decimal(39, 2)"),
        ("WB720", "array"),
        ("WB720", "array<int"),
        ("WB720", "map<int>"),
        ("WB720", "int int"),
        ("WB720", "int[3"),
        ("WB720", "a$b"),
        ("WB721", "struct<a: int, A: int>"),
        ("WB722", "map<array<map<int, int>>, int>"),
        ("WB723", "array<" * 16 + "int" + ">" * 16),
        ("WB723", "int" + "[]" * 16),
    ],
)
def test_what_is_no_type(code: str, text: str) -> None:
    with pytest.raises(BindingError) as caught:
        type_named(text)
    assert caught.value.code == code


def test_arrow_types_that_no_column_has() -> None:
    deep = pa.int32()
    for _ in range(16):
        deep = pa.list_(deep)
    with pytest.raises(BindingError, match="WB723"):
        type_of_arrow(deep)
    with pytest.raises(BindingError, match="WB721"):
        type_of_arrow(pa.struct([]))
    with pytest.raises(BindingError, match="WB119"):
        columns_of("a array<int> >")
    with pytest.raises(BindingError, match="WB723"):
        columns_of(f"a {'array<' * 20}int{'>' * 20}")
