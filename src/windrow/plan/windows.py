"""Windows bound to their stream: kinds, PARTITION BY columns, and the rules on SLIDE and EVERY."""

from __future__ import annotations

from collections.abc import Iterable

from windrow.errors import BindingError
from windrow.event_time import show_span
from windrow.plan.expressions import ColumnRef, Expr
from windrow.plan.model import WindowSpec
from windrow.plan.names import column_named
from windrow.plan.nearest import nearest
from windrow.schema import StreamSchema
from windrow.sql.statements import Select, SetQuery, Source, Window

__all__ = [
    "MAX_LENGTH_US",
    "all_sources",
    "bind_window",
    "check_slides",
    "check_windows",
    "common_closes",
]

# Adding this to any plausible event time stays below END_OF_TIME.
MAX_LENGTH_US = 2**61


def bind_window(window: Window, stream: StreamSchema, source: int) -> WindowSpec:
    """The window of the input at that position."""
    _check_length(window)
    _check_time(window, stream)
    is_even = window.traits.moves_in_steps and not window.traits.closes
    if is_even and window.length_us % window.slide_us:
        raise BindingError(
            "WB212",
            f"SLIDE {show_span(window.slide_us)} does not divide "
            f"RANGE {show_span(window.length_us)}",
            hint="choose a RANGE that is a multiple of SLIDE",
            place=window.place,
        )
    return WindowSpec(
        window.kind,
        window.length_us,
        window.slide_us,
        window.rows,
        tuple(_partition_column(window, stream, source, name) for name in window.partition_by),
        window.offset_us,
    )


def _check_length(window: Window) -> None:
    traits = window.traits
    if (traits.has_width and not (0 <= window.length_us <= MAX_LENGTH_US)) or window.slide_us < 0:
        raise BindingError(
            "WB215",
            f"a window cannot be {window.length_us} microseconds long",
            hint="write [UNBOUNDED] for everything",
            place=window.place,
        )
    has_no_slide = traits.moves_in_steps and (window.slide_us < 1 or window.length_us < 1)
    if has_no_slide or (traits.has_row_limit and window.rows < 1):
        raise BindingError(
            "WB216",
            "a window of this kind must hold at least one row or one slide",
            hint="write ROWS 1 or more, SLIDE 1 MICROSECOND or more",
            place=window.place,
        )


def _check_time(window: Window, stream: StreamSchema) -> None:
    """Rows are in windows by the time of their stream, which other dialects name again."""
    if not window.time or window.time.lower() == stream.time.lower():
        return
    known = column_named(stream, window.time)
    what = f"{window.time!r} is no time" if known else f"there is no column {window.time!r}"
    raise BindingError(
        "WB700",
        f"{what} of {stream.name!r}: its rows are in windows by {stream.time!r}",
        hint=f"name {stream.time}, or declare the stream with TIME {window.time}",
        place=window.place,
    )


def _partition_column(window: Window, stream: StreamSchema, source: int, name: str) -> Expr:
    column = column_named(stream, name)
    if column is not None:
        return ColumnRef(source, column.name, column.type)
    names = [known.name for known in stream.columns]
    guess = nearest(name, names)
    listed = f"the columns are {', '.join(names)}"
    raise BindingError(
        "WB214",
        f"{stream.name!r} has no column {name!r} to PARTITION BY",
        hint=f"did you mean {guess}? {listed}" if guess else listed,
        place=window.place,
    )


def common_closes(windows: Iterable[WindowSpec]) -> tuple[int, int] | None:
    """How far apart all windows close, and how much later than at multiples of that.

    None where they do not close together: then answers are due when rows enter.
    """
    found = {each.traits.close_grid(each) if each.traits.closes else None for each in windows}
    return found.pop() if len(found) == 1 else None


def all_sources(select: Select) -> list[Source]:
    """The sources of FROM, then those of NOT EXISTS."""
    return [*select.sources, *(each for inner in select.not_exists for each in inner.sources)]


def check_windows(select: Select) -> None:
    """Where rows are held until others come or go, every input needs a window that ends."""
    sources = all_sources(select)
    negated = select.not_exists or any(source.join == "anti" for source in sources)
    if negated or len(sources) > 1:
        what = "a negation" if negated else "a join"
        for source in sources:
            _check_end(source, what)


def _check_end(source: Source, what: str) -> None:
    if not source.window.traits.is_endless:
        return
    reason = "keeps every row of its windows, so memory would grow without limit"
    code, kind = ("WB211", "is UNBOUNDED") if source.window.written else ("WB210", "has no window")
    raise BindingError(
        code,
        f"{source.alias!r} {kind} in {what}: {what} {reason}",
        hint=f"write {source.stream} [10 MINUTES] or {source.stream} [ROWS 1000]",
        place=source.window.place or source.place,
    )


def check_slides(query: Select | SetQuery, sources: Iterable[Source]) -> None:
    """EVERY finer than a SLIDE would repeat the same answer."""
    for source in sources:
        slide_us = source.window.slide_us if source.window.traits.moves_in_steps else 0
        if query.every_us is not None and query.every_us < slide_us:
            raise BindingError(
                "WB213",
                f"EVERY {show_span(query.every_us)} is finer than SLIDE {show_span(slide_us)} "
                f"of {source.alias!r}",
                hint=f"write EVERY ({show_span(slide_us).upper()}) or longer",
                place=query.places.get("EVERY") or source.window.place,
            )
