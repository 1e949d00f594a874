"""What is said of an aggregate function: the states that it keeps, their laws, what it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from windrow.schema import ColumnType

__all__ = ["LAWS", "STATES", "AggregateFunction", "Form", "Laws", "State", "Takes"]


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
    COLLECTED = "all values in order, of which all are shown"
    POWERS = "the exact sums of their products, cubes and fourth powers"
    ORDERED = "all values in order"
    BITS = "how many values have each bit"


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
    State.POWERS: Laws(is_invertible=True, is_mergeable=True),
    State.ORDERED: Laws(is_invertible=True, needs_order=True),
    State.BITS: Laws(is_invertible=True, is_mergeable=True),
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
    CHOSEN = "chosen"  # a value of the first or last row
    CHOSEN_BY = "chosen by"  # a value of the row in which another is the least or greatest
    RANKED = "ranked"  # the value at a fraction of the way through all of them
    MOST_FREQUENT = "most frequent"
    PAIRED = "paired"  # of sums of products of two values
    MOMENT = "moment"  # of sums of cubes and fourth powers
    BITS = "bits"


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
    Form.CHOSEN: (State.ORDERED,),
    Form.CHOSEN_BY: (State.ORDERED,),
    Form.RANKED: (State.ORDERED,),
    Form.MOST_FREQUENT: (State.ORDERED,),
    Form.PAIRED: (State.VALUES, State.SUM, State.POWERS),
    Form.MOMENT: (State.VALUES, State.SUM, State.POWERS),
    Form.BITS: (State.VALUES, State.BITS),
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
# Only trees of relations keep what these need.
_OF_TREES = (
    Form.CHOSEN, Form.CHOSEN_BY, Form.RANKED, Form.MOST_FREQUENT, Form.PAIRED, Form.MOMENT,
    Form.BITS,
)  # fmt: skip
_COUNTS = (Form.ROWS, Form.COUNT, Form.DISTINCT, Form.ABOUT_DISTINCT)


class Takes(Enum):
    """What an argument may be, as errors say it."""

    ANYTHING = "anything"
    NUMBERS = "numbers"
    ORDERED = "numbers, timestamps, dates and truth values"
    TRUTH = "truth values"
    INTEGERS = "integers"


@dataclass(frozen=True)
class AggregateFunction:
    """One aggregate function.

    name: in plans, and what histories call it. sql_names: what people write, in capitals: the first
    as it is shown, the last as hints name it; () for a form of another function. type_of: the type
    of its value, by that of its argument. duckdb: the call that means the same there. star,
    distinct: the functions that it is with * and with DISTINCT. is_greatest: of extremes.
    rows_less: by how much the divisor of a spread is less than the number of values. is_root: of a
    spread. only_true: whether a value that is false adds no more than NULL does. synonyms: other
    names, which no hint lists. is_nearest: of ranked values, one of them, not one between two.
    formula: of sums of powers, or of counts of bits, what is made of them. in_trees: whether
    only trees of relations run it, as all of some forms. only_different: whether equal values count
    once.
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
    synonyms: tuple[str, ...] = ()
    is_nearest: bool = False
    formula: str = ""
    in_trees: bool = False
    only_different: bool = False

    @property
    def is_of_trees(self) -> bool:
        """Whether only trees of relations run it."""
        return self.in_trees or self.form in _OF_TREES

    @property
    def states(self) -> tuple[State, ...]:
        """What a group keeps for it."""
        return STATES[self.form]

    @property
    def laws(self) -> Laws:
        """What its states allow."""
        return _LAWS_OF_FORM[self.form]

    @property
    def is_of_blocks(self) -> bool:
        """Whether a single block runs it; a tree runs others too."""
        return not (self.laws.in_sketch or self.is_of_trees or self.laws.is_collected)

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
        return is_kept and self.takes is not Takes.TRUTH and not self.is_of_trees

    @property
    def needs_mean(self) -> bool:
        """Whether bounds on it are made about the mean of its values."""
        return self.form in (Form.MEAN, Form.SPREAD)

    def show(self, argument: str) -> str:
        """A call of it as people write it."""
        if self.form is Form.DISTINCT:
            return f"COUNT(DISTINCT {argument})"
        return f"{self.sql_names[0] if self.sql_names else 'COUNT'}({argument})"
