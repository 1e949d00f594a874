"""What a scalar function is: its names, what it takes, what it gives, and what Spark says of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from windrow.schema import ColumnType

__all__ = ["MANY", "Given", "Gives", "Kind", "ScalarFunction", "Takes"]

MANY = 10_000


class Kind(Enum):
    """What an argument must be; plan/argument_kinds.py checks and converts each kind.

    The value says it in an error: 'LOWER takes text'. An integer literal becomes any number, a
    DATE a TIMESTAMP, and text that is written as a literal a time or a number.
    """

    TEXT = "text"
    INT = "an integer of 32 bits"
    BIGINT = "integers"
    INTEGER = "integers, as INT or BIGINT"
    DOUBLE = "numbers"
    NUMBER = "numbers, as they are"  # as BIGINT, DECIMAL or DOUBLE
    BOOLEAN = "a condition"
    TIMESTAMP = "a timestamp"
    DATE = "a date"
    WALL = "a time or a date"  # a TIMESTAMP as what clocks of the session's zone show
    INTERVAL = "an interval"
    BINARY = "bytes"  # text is taken as its UTF-8 bytes
    TEXT_OR_BINARY = "text or bytes"
    ARRAY = "an array"
    MAP = "a map"
    INTEGER_OR_BYTES = "an integer, text or bytes"
    ANY = "anything"
    ALIKE = "values of one type"  # all arguments of this kind meet in one type


@dataclass(frozen=True)
class Takes:
    """One argument: its kind, and whether it must be a constant as it is written."""

    kind: Kind
    is_constant: bool = False


@dataclass(frozen=True)
class Given:
    """The arguments of one call, as a rule for its type sees them, after conversion.

    constants: their values where they are literals, None elsewhere.
    """

    types: Sequence[ColumnType]
    constants: Sequence[object]


Gives = ColumnType | Callable[[Given], ColumnType]


@dataclass(frozen=True)
class ScalarFunction:
    """One scalar function.

    name: in plans, and as people write it, in any letters. takes: its arguments in order; gives:
    its type, or the rule for it. also: other names. optional: how many of the last arguments can be
    left out; repeats: the last one may come any number of times. is_total: it has a value wherever
    its arguments have, and where it has none of its type that is a fault, an error for the row.
    is_form: no plan has it, plan/function_forms.py makes other calls of it.
    example, value: one for the page of functions. differs: where it is not Spark's function,
    in what. remedy: what an error says to do. duckdb: what means the same there, where that is no
    call of the same name.
    """

    name: str
    takes: tuple[Takes | Kind, ...]
    gives: Gives
    also: tuple[str, ...] = ()
    optional: int = 0
    repeats: bool = False
    is_total: bool = False
    is_form: bool = False
    example: str = ""
    value: str = ""
    differs: str = ""
    remedy: str = ""
    duckdb: str = ""

    @property
    def least(self) -> int:
        """How many arguments it takes at least."""
        return len(self.takes) - self.optional

    @property
    def most(self) -> int:
        """How many arguments it takes at most."""
        return MANY if self.repeats else len(self.takes)

    def argument(self, position: int) -> Takes:
        """What stands at that position, counted from 0."""
        found = self.takes[min(position, len(self.takes) - 1)]
        return found if isinstance(found, Takes) else Takes(found)
