"""What a history keeps: levels, measures, group keys, and when a leaf is split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from windrow.errors import BindingError
from windrow.event_time import END_OF_TIME, show_span
from windrow.history.state_kernels import DOUBLE, INTEGER
from windrow.schema import Column, ColumnType

__all__ = [
    "GRANULARITY_COLUMN",
    "MEASURE_ENDINGS",
    "ROWS_COLUMN",
    "SPLIT_ABOVE",
    "START_COLUMN",
    "HistorySpec",
    "Level",
    "levels_of",
]

# Columns of nodes that are archived or saved; each measure has one for every ending.
GRANULARITY_COLUMN = "node_granularity_us"
START_COLUMN = "node_start"
ROWS_COLUMN = "node_rows"
MEASURE_ENDINGS = ("_valid", "_min", "_max", "_sum", "_sum_rest", "_positive", "_squares")

# Rows that a leaf may have. Their rows then take less memory than the nodes that would hold them.
SPLIT_ABOVE = 16
MAX_LEVELS = 16
MAX_MEASURES = 64


@dataclass(frozen=True)
class Level:
    """Nodes of one length, kept for retention_us; None: for ever."""

    granularity_us: int
    retention_us: int | None = None


@dataclass(frozen=True)
class HistorySpec:
    """Levels from fine to coarse, measures to aggregate, and the keys that they are grouped by.

    quantiles: measures with a sketch of their distribution; distincts: columns of any type with a
    sketch of their different values. split_above: eps * w of the paper.
    """

    levels: tuple[Level, ...]
    measures: tuple[Column, ...] = ()
    keys: tuple[Column, ...] = ()
    split_above: int = SPLIT_ABOVE
    quantiles: tuple[str, ...] = ()
    distincts: tuple[Column, ...] = ()

    def __post_init__(self) -> None:
        _check_levels(self.levels)
        _check_columns(self)
        if self.split_above < 0:
            raise BindingError(
                "WB306",
                f"a leaf cannot be split above {self.split_above} rows",
                hint="give 0 or more",
            )

    @property
    def granularities_us(self) -> tuple[int, ...]:
        """Of all levels, fine to coarse."""
        return tuple(level.granularity_us for level in self.levels)

    @property
    def retentions_us(self) -> tuple[int, ...]:
        """Of all levels; for ever is the end of time."""
        return tuple(
            END_OF_TIME if level.retention_us is None else level.retention_us
            for level in self.levels
        )

    @cached_property
    def kinds(self) -> tuple[int, ...]:
        """How the words of each measure are read."""
        return tuple(DOUBLE if each.type.is_float else INTEGER for each in self.measures)

    def measure_index(self, name: str) -> int:
        """The place of a measure."""
        for index, measure in enumerate(self.measures):
            if measure.name == name:
                return index
        raise BindingError(
            "WB307",
            f"the history keeps no measure {name!r}",
            hint=f"it keeps {', '.join(each.name for each in self.measures) or 'only counts'}",
        )

    def level_index(self, granularity_us: int) -> int:
        """The place of the level with that granularity."""
        if granularity_us not in self.granularities_us:
            raise BindingError(
                "WB308",
                f"the history has no level of {show_span(granularity_us)}",
                hint=f"its levels are {', '.join(map(show_span, self.granularities_us))}",
            )
        return self.granularities_us.index(granularity_us)


def levels_of(pairs: Sequence[tuple[int, int | None]]) -> tuple[Level, ...]:
    """Levels from pairs of granularity and retention in microseconds, finest first."""
    return tuple(Level(granularity_us, retention_us) for granularity_us, retention_us in pairs)


def _check_levels(levels: tuple[Level, ...]) -> None:
    if not 0 < len(levels) <= MAX_LEVELS:
        raise BindingError(
            "WB301",
            f"a history has 1 to {MAX_LEVELS} levels, not {len(levels)}",
            hint='such as [("1 second", "10 minutes"), ("1 minute", "forever")]',
        )
    for level in levels:
        if level.granularity_us <= 0 or (level.retention_us or 0) < 0:
            raise BindingError(
                "WB302", f"{level} has no positive length", hint="give lengths above zero"
            )
    for fine, coarse in pairwise(levels):
        if coarse.granularity_us <= fine.granularity_us or (
            coarse.granularity_us % fine.granularity_us
        ):
            raise BindingError(
                "WB303",
                f"a level of {show_span(coarse.granularity_us)} does not consist of nodes of "
                f"{show_span(fine.granularity_us)}",
                hint="give levels from fine to coarse, each a multiple of the one before",
            )
        if coarse.retention_us is not None and (
            fine.retention_us is None or fine.retention_us > coarse.retention_us
        ):
            raise BindingError(
                "WB304",
                f"the level of {show_span(coarse.granularity_us)} is kept for a shorter time than "
                f"the finer one of {show_span(fine.granularity_us)}",
                hint="coarse levels are kept for as long as the finer ones, or longer",
            )


def _check_columns(spec: HistorySpec) -> None:
    if len(spec.measures) > MAX_MEASURES:
        raise BindingError(
            "WB305",
            f"a history has at most {MAX_MEASURES} measures",
            hint="omit some",
        )
    for measure in spec.measures:
        if not _is_measurable(measure.type):
            raise BindingError(
                "WB309",
                f"{measure.name!r} is {measure.type}, which has no sum",
                hint="measures are numbers; count distinct values of other columns instead",
            )
    names = [column.name for column in (*spec.keys, *spec.measures)]
    names += [GRANULARITY_COLUMN, START_COLUMN, ROWS_COLUMN]
    names += [each.name + ending for each in spec.measures for ending in MEASURE_ENDINGS]
    names += [f"{name}_quantile" for name in spec.quantiles]
    names += [f"{column.name}_distinct" for column in spec.distincts]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BindingError(
            "WB310",
            f"{twice!r} would be the name of two columns of the nodes",
            hint="rename the columns of the stream",
        )
    for name in spec.quantiles:
        spec.measure_index(name)


def _is_measurable(kind: ColumnType) -> bool:
    return kind.is_numeric
