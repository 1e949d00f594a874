"""The aggregate functions: one entry each, from which every layer reads what it must know.

An entry names the function, what it accepts and returns, and how its value is computed. That fixes
which states a group keeps for it, and the laws of those states say which algorithms, shuffles and
stores can serve it. So an aggregate that is made of states that exist is one entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

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


class State(Enum):
    """What a group keeps for an aggregate."""

    ROWS = "how many rows there are"
    VALUES = "how many values are not NULL"
    SUM = "their exact sum"
    SQUARES = "the exact sum of their squares"
    EXTREME = "the values in order, of which the first is shown"
    DISTINCT = "how often each different value occurs"
    QUANTILE_SKETCH = "a sketch of how the values are distributed"
    DISTINCT_SKETCH = "a sketch of how many different values there are"
    COLLECTED = "all values in order"


@dataclass(frozen=True)
class Laws:
    """What a state allows.

    is_linear: the state of joined rows follows from states of each input, by sums and products.
    is_invertible: what a row added can be retracted without looking at other rows. is_mergeable:
    states of parts of the rows combine to that of all. is_idempotent: equal values count as one.
    needs_order: it is kept in order of its values. is_bounded: rows that are missing make an error
    that can be bounded. in_nodes: a history keeps it in the columns of its nodes. in_sketch: a
    history keeps it in a sketch that must be asked for. is_collected: all values are kept, which
    only trees of relations do. (None depends on the order of rows.)
    """

    is_linear: bool = False
    is_invertible: bool = False
    is_mergeable: bool = False
    is_idempotent: bool = False
    needs_order: bool = False
    is_bounded: bool = False
    in_nodes: bool = False
    in_sketch: bool = False
    is_collected: bool = False


_ADDED_UP = Laws(
    is_linear=True, is_invertible=True, is_mergeable=True, is_bounded=True, in_nodes=True
)
_SKETCHED = Laws(is_mergeable=True, in_sketch=True)
LAWS: Mapping[State, Laws] = {
    State.ROWS: _ADDED_UP,
    State.VALUES: _ADDED_UP,
    State.SUM: _ADDED_UP,
    State.SQUARES: _ADDED_UP,
    State.EXTREME: Laws(
        is_mergeable=True, is_idempotent=True, needs_order=True, is_bounded=True, in_nodes=True
    ),
    State.DISTINCT: Laws(is_invertible=True),
    State.QUANTILE_SKETCH: _SKETCHED,
    State.DISTINCT_SKETCH: _SKETCHED,
    State.COLLECTED: Laws(is_invertible=True, is_collected=True),
}


class Form(Enum):
    """How a value is made of states; which of them a form has is in STATES."""

    ROWS = "rows"
    COUNT = "count"
    SUM = "sum"
    MEAN = "mean"
    SPREAD = "spread"  # the mean square of distances from the mean, or its root
    EXTREME = "extreme"
    DISTINCT = "distinct"
    QUANTILE = "quantile"
    ABOUT_DISTINCT = "about distinct"
    COLLECTED = "collected"


STATES: Mapping[Form, tuple[State, ...]] = {
    Form.ROWS: (State.ROWS,),
    Form.COUNT: (State.VALUES,),
    Form.SUM: (State.VALUES, State.SUM),
    Form.MEAN: (State.VALUES, State.SUM),
    Form.SPREAD: (State.VALUES, State.SUM, State.SQUARES),
    Form.EXTREME: (State.EXTREME,),
    Form.DISTINCT: (State.DISTINCT,),
    Form.QUANTILE: (State.QUANTILE_SKETCH,),
    Form.ABOUT_DISTINCT: (State.DISTINCT_SKETCH,),
    Form.COLLECTED: (State.COLLECTED,),
}


def _laws_of(form: Form) -> Laws:
    """A form obeys what all its states obey, and needs what one of them needs."""
    laws = [LAWS[state] for state in STATES[form]]
    return Laws(
        is_linear=all(each.is_linear for each in laws),
        is_invertible=all(each.is_invertible for each in laws),
        is_mergeable=all(each.is_mergeable for each in laws),
        is_idempotent=all(each.is_idempotent for each in laws),
        needs_order=any(each.needs_order for each in laws),
        is_bounded=all(each.is_bounded for each in laws),
        in_nodes=all(each.in_nodes for each in laws),
        in_sketch=any(each.in_sketch for each in laws),
        is_collected=any(each.is_collected for each in laws),
    )


_LAWS_OF_FORM = {form: _laws_of(form) for form in Form}
_COUNTS = (Form.ROWS, Form.COUNT, Form.DISTINCT, Form.ABOUT_DISTINCT)


class Takes(Enum):
    """What an argument may be, as errors say it."""

    ANYTHING = "anything"
    NUMBERS = "numbers"
    ORDERED = "numbers, timestamps, dates and truth values"
    TRUTH = "truth values"


@dataclass(frozen=True)
class AggregateFunction:
    """One aggregate function.

    name: in plans, and what histories call it. sql_names: what people write, in capitals: the first
    as it is shown, the last as hints name it; () for a form of another function. type_of: the type
    of its value, by that of its argument. duckdb: the call that means the same there. star,
    distinct: the functions that it is with * and with DISTINCT. is_greatest: of extremes.
    rows_less: by how much the divisor of a spread is less than the number of values. is_root: of a
    spread. only_true: whether a value that is false adds no more than NULL does. only_different:
    whether equal values count once.
    """

    name: str
    form: Form
    sql_names: tuple[str, ...]
    takes: Takes
    type_of: Callable[[ColumnType], ColumnType]
    duckdb: str
    star: str | None = None
    distinct: str | None = None
    is_greatest: bool = False
    rows_less: int = 0
    is_root: bool = False
    only_true: bool = False
    only_different: bool = False

    @property
    def states(self) -> tuple[State, ...]:
        """What a group keeps for it."""
        return STATES[self.form]

    @property
    def laws(self) -> Laws:
        """What its states allow."""
        return _LAWS_OF_FORM[self.form]

    @property
    def is_count(self) -> bool:
        """Whether it is a number of something, and so 0 where there is nothing."""
        return self.form in _COUNTS

    @property
    def fewest_values(self) -> int:
        """How many values it needs so as not to be NULL."""
        return 0 if self.is_count else 1 + self.rows_less

    @property
    def in_history(self) -> bool:
        """Whether histories know it: of measures, which are numbers, or by a sketch."""
        is_kept = self.laws.in_nodes or self.laws.in_sketch
        return is_kept and self.takes is not Takes.TRUTH

    @property
    def needs_mean(self) -> bool:
        """Whether bounds on it are made about the mean of its values."""
        return self.form in (Form.MEAN, Form.SPREAD)

    def show(self, argument: str) -> str:
        """A call of it as people write it."""
        if self.form is Form.DISTINCT:
            return f"COUNT(DISTINCT {argument})"
        return f"{self.sql_names[0] if self.sql_names else 'COUNT'}({argument})"


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


def _text(_argument: ColumnType) -> ColumnType:
    return STRING


# What code asks for by itself has a name here.
COUNT = AggregateFunction(
    "count", Form.COUNT, ("COUNT",), Takes.ANYTHING, _bigint, "count({})",
    star="count_star", distinct="count_distinct",
)  # fmt: skip
SUM = AggregateFunction("sum", Form.SUM, ("SUM",), Takes.NUMBERS, sum_type, "sum({})")
MEAN = AggregateFunction("avg", Form.MEAN, ("AVG",), Takes.NUMBERS, _double, "avg({})")
LEAST = AggregateFunction("min", Form.EXTREME, ("MIN",), Takes.ORDERED, _same, "min({})")
GREATEST = AggregateFunction(
    "max", Form.EXTREME, ("MAX",), Takes.ORDERED, _same, "max({})", is_greatest=True
)
VARIANCE = AggregateFunction(
    "var_pop", Form.SPREAD, ("VAR_POP",), Takes.NUMBERS, _double, "var_pop({})"
)
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
        "stddev_samp({})", rows_less=1, is_root=True,
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
        "bool_and", Form.EXTREME, ("BOOL_AND",), Takes.TRUTH, _same, "bool_and({})"
    ),
    AggregateFunction(
        "bool_or", Form.EXTREME, ("BOOL_OR",), Takes.TRUTH, _same, "bool_or({})", is_greatest=True
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
)  # fmt: skip
AGGREGATE_FUNCTIONS: Mapping[str, AggregateFunction] = {each.name: each for each in _ENTRIES}
SQL_NAMES: Mapping[str, AggregateFunction] = {
    name: each for each in _ENTRIES for name in each.sql_names
}


def running_names(is_running: Callable[[AggregateFunction], bool]) -> str:
    """The names of those that run somewhere, as hints list them."""
    *names, last = (each.sql_names[-1] for each in _ENTRIES if each.sql_names and is_running(each))
    return f"{', '.join(names)} and {last}"
