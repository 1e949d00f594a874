"""What the language has and nothing runs yet: refused here, by the shape of the query alone."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.errors import Place, UnsupportedError
from windrow.plan.expressions import Expr, GroupRef
from windrow.plan.model import OutputColumn
from windrow.plan.windows import all_sources
from windrow.sql.statements import Select

__all__ = ["MAX_INPUTS", "check_distinct_groups", "check_shape", "refusal"]

# Every probe of a join walks the other windows one after the other.
MAX_INPUTS = 6


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
