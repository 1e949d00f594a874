"""The aggregate functions: one entry each, from which every layer reads what it must know.

An entry names the function, what it accepts and returns, and how its value is computed. That fixes
which states a group keeps for it, and the laws of those states say which algorithms, shuffles and
stores can serve it. So an aggregate that is made of states that exist is one entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from windrow.aggregate_traits import AggregateFunction, Form, Laws, State, Takes
from windrow.schema import (
    BIGINT,
    DOUBLE,
    MAX_SUM_DIGITS,
    STRING,
    ColumnType,
    array,
    decimal,
)

__all__ = [
    "AGGREGATE_FUNCTIONS",
    "COUNT",
    "GREATEST",
    "LEAST",
    "MEAN",
    "NEAREST",
    "SQL_NAMES",
    "SUM",
    "VARIANCE",
    "AggregateFunction",
    "Form",
    "Laws",
    "State",
    "Takes",
    "running_names",
    "sum_type",
]


def sum_type(argument: ColumnType) -> ColumnType:
    """The type of SUM over a number."""
    if argument.is_integer:
        return BIGINT
    if argument.is_float:
        return DOUBLE
    # Two windows of a billion rows have 10**18 pairs.
    return decimal(min(MAX_SUM_DIGITS, argument.precision + 18), argument.scale)


def _bigint(_argument: ColumnType) -> ColumnType:
    return BIGINT


def _double(_argument: ColumnType) -> ColumnType:
    return DOUBLE


def _same(argument: ColumnType) -> ColumnType:
    return argument


def _double_or_same(argument: ColumnType) -> ColumnType:
    return DOUBLE if argument.is_numeric else argument


def _text(_argument: ColumnType) -> ColumnType:
    return STRING


# What code asks for by itself has a name here.
NEAREST = "percentile_nearest"
COUNT = AggregateFunction(
    "count", Form.COUNT, ("COUNT",), Takes.ANYTHING, _bigint, "count({})",
    star="count_star", distinct="count_distinct",
)  # fmt: skip
SUM = AggregateFunction("sum", Form.SUM, ("SUM",), Takes.NUMBERS, sum_type, "sum({})")
MEAN = AggregateFunction(
    "avg", Form.MEAN, ("AVG",), Takes.NUMBERS, _double, "avg({})", synonyms=("MEAN", "TRY_AVG")
)
LEAST = AggregateFunction("min", Form.EXTREME, ("MIN",), Takes.ORDERED, _same, "min({})")
GREATEST = AggregateFunction(
    "max", Form.EXTREME, ("MAX",), Takes.ORDERED, _same, "max({})", is_greatest=True
)
VARIANCE = AggregateFunction(
    "var_pop", Form.SPREAD, ("VAR_POP",), Takes.NUMBERS, _double, "var_pop({})"
)
# A value of one row, or at a fraction of the way through all of them in order.
_OF_ROWS = (
    AggregateFunction(
        "first_row", Form.CHOSEN, ("FIRST",), Takes.ANYTHING, _same, "first({})",
        synonyms=("FIRST_VALUE", "EARLIEST_BY_OFFSET"),
    ),
    AggregateFunction(
        "last_row", Form.CHOSEN, ("LAST",), Takes.ANYTHING, _same, "last({})", is_greatest=True,
        synonyms=("LAST_VALUE", "LATEST_BY_OFFSET"),
    ),
    AggregateFunction(
        "any_row", Form.CHOSEN, ("ANY_VALUE",), Takes.ANYTHING, _same, "any_value({})"
    ),
    AggregateFunction(
        "min_by", Form.CHOSEN_BY, ("MIN_BY",), Takes.ANYTHING, _same, "arg_min({})",
        synonyms=("ARG_MIN",),
    ),
    AggregateFunction(
        "max_by", Form.CHOSEN_BY, ("MAX_BY",), Takes.ANYTHING, _same, "arg_max({})",
        is_greatest=True, synonyms=("ARG_MAX",),
    ),
    AggregateFunction(
        "percentile", Form.RANKED, ("PERCENTILE",), Takes.NUMBERS, _double, "quantile_cont({})",
        synonyms=("QUANTILE", "QUANTILE_CONT"),
    ),
    AggregateFunction(
        "percentile_cont", Form.RANKED, ("PERCENTILE_CONT",), Takes.NUMBERS, _double,
        "quantile_cont({})",
    ),
    AggregateFunction(
        "percentile_disc", Form.RANKED, ("PERCENTILE_DISC",), Takes.ORDERED, _double_or_same,
        "quantile_disc({})", is_nearest=True, synonyms=("QUANTILE_DISC",),
    ),
    # What APPROX_PERCENTILE is where all values are there: one of them, in their type.
    AggregateFunction(
        NEAREST, Form.RANKED, (), Takes.ORDERED, _same, "quantile_disc({})",
        is_nearest=True,
    ),
    AggregateFunction(
        "median", Form.RANKED, ("MEDIAN",), Takes.NUMBERS, _double, "median({})"
    ),
    AggregateFunction(
        "most_frequent", Form.MOST_FREQUENT, ("MODE",), Takes.ORDERED, _same, "mode({})"
    ),
)  # fmt: skip
# Of sums of products and powers, and of counts of bits.
_OF_SUMS = (
    AggregateFunction(
        "corr", Form.PAIRED, ("CORR",), Takes.NUMBERS, _double, "corr({})", formula="correlation",
    ),
    AggregateFunction(
        "covar_pop", Form.PAIRED, ("COVAR_POP",), Takes.NUMBERS, _double, "covar_pop({})",
        formula="covariance",
    ),
    AggregateFunction(
        "covar_samp", Form.PAIRED, ("COVAR_SAMP",), Takes.NUMBERS, _double, "covar_samp({})",
        formula="covariance", rows_less=1,
    ),
    AggregateFunction(
        "regr_slope", Form.PAIRED, ("REGR_SLOPE",), Takes.NUMBERS, _double, "regr_slope({})",
        formula="slope",
    ),
    AggregateFunction(
        "regr_intercept", Form.PAIRED, ("REGR_INTERCEPT",), Takes.NUMBERS, _double,
        "regr_intercept({})", formula="intercept",
    ),
    AggregateFunction(
        "regr_r2", Form.PAIRED, ("REGR_R2",), Takes.NUMBERS, _double, "regr_r2({})",
        formula="determination",
    ),
    AggregateFunction(
        "regr_sxx", Form.PAIRED, ("REGR_SXX",), Takes.NUMBERS, _double, "regr_sxx({})",
        formula="squares of x",
    ),
    AggregateFunction(
        "regr_sxy", Form.PAIRED, ("REGR_SXY",), Takes.NUMBERS, _double, "regr_sxy({})",
        formula="products",
    ),
    AggregateFunction(
        "regr_syy", Form.PAIRED, ("REGR_SYY",), Takes.NUMBERS, _double, "regr_syy({})",
        formula="squares of y",
    ),
    AggregateFunction(
        "regr_count", Form.COUNT, ("REGR_COUNT",), Takes.NUMBERS, _bigint, "regr_count({})",
        formula="y", in_trees=True,
    ),
    AggregateFunction(
        "regr_avgx", Form.MEAN, ("REGR_AVGX",), Takes.NUMBERS, _double, "regr_avgx({})",
        formula="x", in_trees=True,
    ),
    AggregateFunction(
        "regr_avgy", Form.MEAN, ("REGR_AVGY",), Takes.NUMBERS, _double, "regr_avgy({})",
        formula="y", in_trees=True,
    ),
    AggregateFunction(
        "skewness", Form.MOMENT, ("SKEWNESS",), Takes.NUMBERS, _double, "skewness({})",
        formula="third",
    ),
    AggregateFunction(
        "kurtosis", Form.MOMENT, ("KURTOSIS",), Takes.NUMBERS, _double, "kurtosis_pop({})",
        formula="fourth",
    ),
    AggregateFunction(
        "bit_and", Form.BITS, ("BIT_AND",), Takes.INTEGERS, _same, "bit_and({})", formula="all"
    ),
    AggregateFunction(
        "bit_or", Form.BITS, ("BIT_OR",), Takes.INTEGERS, _same, "bit_or({})", formula="some"
    ),
    AggregateFunction(
        "bit_xor", Form.BITS, ("BIT_XOR",), Takes.INTEGERS, _same, "bit_xor({})", formula="odd"
    ),
    AggregateFunction(
        "try_sum", Form.SUM, ("TRY_SUM",), Takes.NUMBERS, sum_type, "sum({})", in_trees=True
    ),
)  # fmt: skip
_OF_TREES = (*_OF_ROWS, *_OF_SUMS)
_ENTRIES = (
    COUNT,
    AggregateFunction("count_star", Form.ROWS, (), Takes.ANYTHING, _bigint, "count(*)"),
    AggregateFunction(
        "count_distinct", Form.DISTINCT, (), Takes.ANYTHING, _bigint, "count(DISTINCT {})"
    ),
    SUM,
    MEAN,
    LEAST,
    GREATEST,
    AggregateFunction(
        "stddev_samp", Form.SPREAD, ("STDDEV_SAMP", "STDDEV"), Takes.NUMBERS, _double,
        "stddev_samp({})", rows_less=1, is_root=True, synonyms=("STD",),
    ),
    AggregateFunction(
        "stddev_pop", Form.SPREAD, ("STDDEV_POP",), Takes.NUMBERS, _double, "stddev_pop({})",
        is_root=True,
    ),
    AggregateFunction(
        "var_samp", Form.SPREAD, ("VAR_SAMP", "VARIANCE"), Takes.NUMBERS, _double, "var_samp({})",
        rows_less=1,
    ),
    VARIANCE,
    AggregateFunction(
        "count_if", Form.COUNT, ("COUNT_IF",), Takes.TRUTH, _bigint, "count(*) FILTER (WHERE {})",
        only_true=True,
    ),
    AggregateFunction(
        "bool_and", Form.EXTREME, ("BOOL_AND",), Takes.TRUTH, _same, "bool_and({})",
        synonyms=("EVERY",),
    ),
    AggregateFunction(
        "bool_or", Form.EXTREME, ("BOOL_OR",), Takes.TRUTH, _same, "bool_or({})", is_greatest=True,
        synonyms=("SOME", "ANY"),
    ),
    AggregateFunction(
        "collect_list", Form.COLLECTED, ("COLLECT_LIST", "ARRAY_AGG"), Takes.ANYTHING, array,
        "list({})",
    ),
    AggregateFunction(
        "collect_set", Form.COLLECTED, ("COLLECT_SET",), Takes.ANYTHING, array,
        "list(DISTINCT {})", only_different=True,
    ),
    AggregateFunction(
        "listagg", Form.COLLECTED, ("LISTAGG", "STRING_AGG"), Takes.ANYTHING, _text,
        "string_agg({})",
    ),
    AggregateFunction(
        "quantile", Form.QUANTILE, ("APPROX_PERCENTILE", "PERCENTILE_APPROX"), Takes.NUMBERS,
        _double, "approx_quantile({})",
    ),
    AggregateFunction(
        "distinct", Form.ABOUT_DISTINCT, ("APPROX_COUNT_DISTINCT",), Takes.ANYTHING, _bigint,
        "approx_count_distinct({})",
    ),
    *_OF_TREES,
)  # fmt: skip
AGGREGATE_FUNCTIONS: Mapping[str, AggregateFunction] = {each.name: each for each in _ENTRIES}
SQL_NAMES: Mapping[str, AggregateFunction] = {
    name: each for each in _ENTRIES for name in (*each.sql_names, *each.synonyms)
}


def running_names(is_running: Callable[[AggregateFunction], bool]) -> str:
    """The names of those that run somewhere, as hints list them."""
    *names, last = (each.sql_names[-1] for each in _ENTRIES if each.sql_names and is_running(each))
    return f"{', '.join(names)} and {last}"
