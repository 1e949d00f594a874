"""Draws all pictures of the documentation: python docs/pictures/all_pictures.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import draw_budget
import draw_clock
import draw_expiry
import draw_grammar
import draw_history
import draw_joins
import draw_recovery
import draw_relations
import draw_rooms
import draw_rows
import draw_sums
from drawing import Picture

__all__ = ["PICTURES", "write_all"]

PICTURES: dict[str, Callable[[], Picture]] = {
    "way-of-a-row-in-process": draw_rows.in_process,
    "way-of-a-row-on-spark": draw_rows.on_spark,
    "clock": draw_clock.clock,
    "limbs": draw_sums.limbs,
    "factorised": draw_joins.factorised,
    "on-joined-rows": draw_joins.on_joined_rows,
    "tree-of-blocks": draw_relations.tree_of_blocks,
    "levels": draw_budget.levels,
    "turns": draw_budget.turns,
    "adaptive-tree": draw_history.tree,
    "ageing": draw_history.ageing,
    "lives": draw_expiry.lives,
    "branch-ladder": draw_expiry.branch_ladder,
    "timing-wheel": draw_expiry.timing_wheel,
    "exactly-once": draw_recovery.exactly_once,
    "rooms": draw_rooms.rooms,
    **draw_grammar.drawings(),
}


def write_all(folder: Path) -> None:
    """Write every picture into a folder."""
    for name, draw in PICTURES.items():
        (folder / f"{name}.svg").write_text(draw().to_svg(), encoding="utf-8")


if __name__ == "__main__":
    write_all(Path(__file__).parent)
