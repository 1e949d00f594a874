"""A SLIDE that is coarser than EVERY is refused: the same answer would come again and again."""

from __future__ import annotations

from collections.abc import Iterable

from windrow.errors import BindingError
from windrow.event_time import show_span
from windrow.sql.statements import Select, SetQuery, Source

__all__ = ["check_slides"]


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
