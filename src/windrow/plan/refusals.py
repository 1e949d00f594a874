"""What the language has and nothing runs yet: refused here, by the shape of the query alone."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from windrow.errors import Place, UnsupportedError
from windrow.plan.expressions import Expr, GroupRef
from windrow.plan.model import OutputColumn
from windrow.plan.windows import all_sources
from windrow.sql.nested_query import NestedQuery
from windrow.sql.statements import CreateView, QueryText, Select, Source
from windrow.sql.walks import expressions_of

__all__ = [
    "MAX_INPUTS",
    "check_distinct_groups",
    "check_shape",
    "is_one_select",
    "one_select",
    "refusal",
]

# Every probe of a join walks the other windows one after the other.
MAX_INPUTS = 6


def one_select(query: QueryText | CreateView) -> Select:
    """The query, if it is one SELECT of streams, without queries and functions over windows."""
    if isinstance(query, Select) and is_one_select(query):
        return query
    places = getattr(query, "places", {})
    place = getattr(query, "place", None) or next(iter(places.values()), None)
    raise refusal(
        "WU231",
        "this form of query",
        place,
        "here it has to be one SELECT of windows, inner joins and NOT EXISTS, with or without "
        "GROUP BY; windrow.connect() without Spark runs any SELECT",
    )


def is_one_select(select: Select) -> bool:
    """Whether it says nothing but what one block may: no query within, no order, no OVER."""
    parts = (select.grouping_sets, select.qualify, select.order_by, select.common_tables)
    if any(parts) or select.limit is not None or select.offset or not select.sources:
        return False
    kinds = (NestedQuery, exp.Window, exp.Filter, exp.Tuple)
    return all(_is_stream(source) for source in select.sources) and all(
        each.find(*kinds) is None for each in expressions_of(select)
    )


def _is_stream(source: Source) -> bool:
    is_plain = not source.using and not source.is_natural and not source.columns
    return bool(source.stream) and is_plain and source.join in ("first", "inner", "anti")


def check_shape(select: Select) -> None:
    """Refuses clauses and joins that no part of the engine runs."""
    sources = all_sources(select)
    for source in sources:
        if source.history is not None:
            place = source.history.place or source.place
            raise refusal("WU211", "HISTORY here", place, "make it the only input in FROM")
    if len(sources) > MAX_INPUTS:
        raise refusal(
            "WU201",
            f"a query over {len(sources)} windows",
            sources[MAX_INPUTS].place,
            f"join at most {MAX_INPUTS} windows, including negated ones",
        )


def check_distinct_groups(
    select: Select, items: Sequence[OutputColumn], group_by: Sequence[Expr]
) -> None:
    """DISTINCT changes nothing where every group has its group columns in the answer."""
    shown = {part.expression.index for part in items if isinstance(part.expression, GroupRef)}
    if shown != set(range(len(group_by))):
        hint = "omit DISTINCT: a group is one row anyway; or select all that GROUP BY names"
        raise refusal("WU203", "DISTINCT of groups", select.places.get("SELECT"), hint)


def refusal(code: str, what: str, place: Place | None, hint: str | None = None) -> UnsupportedError:
    """Right WQL that nothing runs yet."""
    return UnsupportedError(code, f"{what} is not supported yet", hint=hint, place=place)
