"""Functions of arrays."""

from __future__ import annotations

from windrow.scalar_functions.entry import Kind, ScalarFunction
from windrow.scalar_functions.nested_rules import array_of_first, element
from windrow.scalar_functions.rules import as_first
from windrow.schema import BIGINT, BOOLEAN, INT, STRING

__all__ = ["ARRAYS"]

_OUTSIDE = "use GET or TRY_ELEMENT_AT, which give NULL outside of the array"
_TWO = (Kind.ARRAY, Kind.ARRAY)
_WITH = (Kind.ARRAY, Kind.ANY)
_FUNCTION = (Kind.ARRAY, Kind.ANY)

ARRAYS: tuple[ScalarFunction, ...] = (
    ScalarFunction("array", (Kind.ALIKE,), array_of_first, optional=1, repeats=True,
                   example="ARRAY(i, 2)", value="[-7, 2]"),
    ScalarFunction("array_append", _WITH, as_first, example="ARRAY_APPEND(ARRAY(1), 2)",
                   value="[1, 2]"),
    ScalarFunction("array_compact", (Kind.ARRAY,), as_first,
                   example="ARRAY_COMPACT(ARRAY(1, NULL))", value="[1]"),
    ScalarFunction("array_contains", _WITH, BOOLEAN, example="ARRAY_CONTAINS(ARRAY(1, 2), 2)",
                   value="True"),
    ScalarFunction("array_distinct", (Kind.ARRAY,), as_first,
                   example="ARRAY_DISTINCT(ARRAY(1, 2, 1))", value="[1, 2]"),
    ScalarFunction("array_except", _TWO, as_first,
                   example="ARRAY_EXCEPT(ARRAY(1, 2), ARRAY(2))", value="[1]"),
    ScalarFunction("array_insert", (Kind.ARRAY, Kind.INT, Kind.ANY), as_first,
                   example="ARRAY_INSERT(ARRAY(1, 3), 2, 2)", value="[1, 2, 3]"),
    ScalarFunction("array_intersect", _TWO, as_first,
                   example="ARRAY_INTERSECT(ARRAY(1, 2), ARRAY(2, 3))", value="[2]"),
    ScalarFunction("array_join", (Kind.ARRAY, Kind.TEXT, Kind.TEXT), STRING, optional=1,
                   example="ARRAY_JOIN(ARRAY('a', 'b'), '-')", value="a-b"),
    ScalarFunction("array_max", (Kind.ARRAY,), element, example="ARRAY_MAX(ARRAY(1, 3, NULL))",
                   value="3"),
    ScalarFunction("array_min", (Kind.ARRAY,), element, example="ARRAY_MIN(ARRAY(1, 3, NULL))",
                   value="1"),
    ScalarFunction("array_position", _WITH, BIGINT,
                   example="ARRAY_POSITION(ARRAY('a', 'b'), 'b')", value="2"),
    ScalarFunction("array_prepend", _WITH, as_first, example="ARRAY_PREPEND(ARRAY(2), 1)",
                   value="[1, 2]"),
    ScalarFunction("array_remove", _WITH, as_first, example="ARRAY_REMOVE(ARRAY(1, 2, 1), 1)",
                   value="[2]"),
    ScalarFunction("array_repeat", (Kind.ANY, Kind.INT), array_of_first,
                   example="ARRAY_REPEAT('a', 2)", value="['a', 'a']",
                   remedy="repeat it at most a million times"),
    ScalarFunction("array_size", (Kind.ANY,), INT, also=("size", "cardinality"),
                   example="SIZE(ARRAY(1, 2))", value="2"),
    ScalarFunction("array_sort", (Kind.ARRAY,), as_first,
                   example="ARRAY_SORT(ARRAY(2, NULL, 1))", value="[1, 2, None]",
                   differs="without a function that compares"),
    ScalarFunction("array_union", _TWO, as_first,
                   example="ARRAY_UNION(ARRAY(1, 2), ARRAY(2, 3))", value="[1, 2, 3]"),
    ScalarFunction("arrays_overlap", _TWO, BOOLEAN,
                   example="ARRAYS_OVERLAP(ARRAY(1, 2), ARRAY(2, 3))", value="True"),
    ScalarFunction("arrays_zip", _TWO, as_first, repeats=True,
                   example="SIZE(ARRAYS_ZIP(ARRAY(1), ARRAY(2, 3)))", value="2"),
    ScalarFunction("element_at", (Kind.ANY, Kind.ANY), as_first,
                   example="ELEMENT_AT(ARRAY(1, 2), -1)", value="2", remedy=_OUTSIDE),
    ScalarFunction("try_element_at", (Kind.ANY, Kind.ANY), as_first,
                   example="TRY_ELEMENT_AT(ARRAY(1, 2), 3)", value="NULL"),
    ScalarFunction("get", (Kind.ARRAY, Kind.INT), element, example="GET(ARRAY(1, 2), 0)",
                   value="1"),
    ScalarFunction("flatten", (Kind.ARRAY,), as_first,
                   example="FLATTEN(ARRAY(ARRAY(1), ARRAY(2)))", value="[1, 2]"),
    ScalarFunction("sequence", (Kind.BIGINT, Kind.BIGINT, Kind.BIGINT), array_of_first, optional=1,
                   example="SEQUENCE(1, 5, 2)", value="[1, 3, 5]",
                   differs="of integers only",
                   remedy="the step must lead from the start to the end, in a million at most"),
    ScalarFunction("slice", (Kind.ARRAY, Kind.INT, Kind.INT), as_first,
                   example="SLICE(ARRAY(1, 2, 3), 2, 2)", value="[2, 3]",
                   remedy="a slice begins at 1 or at -1, and its length is not negative"),
    ScalarFunction("sort_array", (Kind.ARRAY, Kind.BOOLEAN), as_first, optional=1,
                   example="SORT_ARRAY(ARRAY(1, 2), FALSE)", value="[2, 1]"),
    ScalarFunction("transform", _FUNCTION, as_first, example="TRANSFORM(ARRAY(1, 2), x -> x + 1)",
                   value="[2, 3]"),
    ScalarFunction("filter", _FUNCTION, as_first, example="FILTER(ARRAY(1, 2), x -> x > 1)",
                   value="[2]"),
    ScalarFunction("exists", _FUNCTION, BOOLEAN,
                   example="EXISTS(ARRAY(1, 2), x -> x > 1)", value="True"),
    ScalarFunction("forall", _FUNCTION, BOOLEAN,
                   example="FORALL(ARRAY(1, 2), x -> x > 1)", value="False"),
    ScalarFunction("aggregate", (Kind.ARRAY, Kind.ANY, Kind.ANY, Kind.ANY), as_first,
                   also=("reduce",), optional=1,
                   example="AGGREGATE(ARRAY(1, 2), 0L, (a, x) -> a + x)", value="3"),
    ScalarFunction("zip_with", (Kind.ARRAY, Kind.ARRAY, Kind.ANY), as_first,
                   example="ZIP_WITH(ARRAY(1), ARRAY(2), (x, y) -> x + y)", value="[3]"),
)  # fmt: skip
