"""Windows that never end: refused where rows are kept one by one. SLIDE finer than EVERY, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from windrow.errors import BindingError
from windrow.event_time import show_span
from windrow.plan.relations.algebra import (
    Aggregate,
    AnswerWindow,
    Apply,
    Join,
    Relation,
    Scan,
    TopRows,
    WindowFunctions,
    walk_relations,
)
from windrow.sql.statements import Select, SetQuery, Source

__all__ = ["check_endless", "check_slides", "keeps_endless"]

_KEEPING: dict[type[Relation], str] = {
    Join: "a join",
    Apply: "a sub-query",
    TopRows: "LIMIT",
    WindowFunctions: "a function with OVER",
}


def check_endless(relation: Relation, sources: Mapping[Scan, Source]) -> None:
    """Refuses an endless window below a node that keeps its rows."""
    for node in walk_relations(relation):
        if type(node) not in _KEEPING:
            continue
        for scan in _kept(node):
            if scan.window.traits.is_endless:
                raise _refusal(sources[scan], _KEEPING[type(node)])


def keeps_endless(relation: Relation) -> bool:
    """Whether the rows of the relation become ever more."""
    return any(scan.window.traits.is_endless for scan in _kept(relation))


def _kept(relation: Relation) -> Iterator[Scan]:
    """The streams whose single rows the relation holds."""
    if isinstance(relation, Scan):
        yield relation
    elif not isinstance(relation, (Aggregate, AnswerWindow)):
        for part in relation.inputs:
            yield from _kept(part)


def _refusal(source: Source, what: str) -> BindingError:
    reason = "keeps every row of its windows, so memory would grow without limit"
    code, kind = ("WB211", "is UNBOUNDED") if source.window.written else ("WB210", "has no window")
    return BindingError(
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
