"""How far the calls of window functions see, which is how far a change is seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from windrow.operators.relations.frame_functions import RANKINGS
from windrow.operators.relations.neighbour_values import is_shifted, shifted
from windrow.operators.relations.span_kernels import Reach
from windrow.plan.relations.algebra import Frame, WindowCall

__all__ = ["has_distance", "reach_of"]

# Rankings that no row behind a row has a say in.
_CUMULATIVE = frozenset(["row_number", "rank", "dense_rank"])
_NONE = -1.0


@dataclass(frozen=True)
class _Seen:
    """Of one call: copies and distances backwards and forwards, and what has no end."""

    rows: tuple[int, int] = (0, 0)
    distances: tuple[float, float] = (_NONE, _NONE)
    is_endless: bool = False
    is_everywhere: bool = False


def reach_of(calls: Sequence[WindowCall], key_width: int) -> Reach:
    """What all calls together see."""
    seen = [_seen(call) for call in calls]
    is_everywhere = any(each.is_everywhere for each in seen)
    is_endless = is_everywhere or any(each.is_endless for each in seen)
    return Reach(
        rows=(max(each.rows[0] for each in seen), max(each.rows[1] for each in seen)),
        distances=(
            max(each.distances[0] for each in seen),
            max(each.distances[1] for each in seen),
        ),
        is_whole=is_endless,
        is_endless=is_endless,
        is_everywhere=is_everywhere,
        key_width=key_width,
    )


def has_distance(frame: Frame) -> bool:
    """Whether a frame is bounded by a distance on the key."""
    return frame.unit == "range" and any(bound for bound in (frame.start, frame.end))


def _seen(call: WindowCall) -> _Seen:
    if call.function in RANKINGS:
        return _Seen(is_endless=True, is_everywhere=call.function not in _CUMULATIVE)
    if is_shifted(call):
        shift = shifted(call).shift
        return _Seen(rows=(max(0, shift), max(0, -shift)))
    frame = call.frame
    # A change is seen by those whose frame ends behind it or begins before it.
    back = 0.0 if frame.end is None else max(0.0, float(frame.end))
    forward = 0.0 if frame.start is None else max(0.0, -float(frame.start))
    is_rows = frame.unit == "rows"
    return _Seen(
        rows=(int(back), int(forward)) if is_rows else (0, 0),
        distances=(_NONE, _NONE) if is_rows else (back, forward),
        is_endless=frame.start is None,
        is_everywhere=frame.end is None,
    )
