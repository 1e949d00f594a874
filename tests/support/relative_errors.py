"""How far an answer is from the truth, as error bounds mean it."""

from __future__ import annotations

import math

from support.oracle import same_value


def relative_error(answer: object, truth: object) -> float:
    if same_value(answer, truth):
        return 0.0
    if answer is None or truth is None:
        return math.inf
    left, right = float(answer), float(truth)  # type: ignore[arg-type]
    if not (math.isfinite(left) and math.isfinite(right)) or right == 0:
        return math.inf
    return abs(left - right) / abs(right)
