"""Rules of the grammar as railroads: follow the line, and write what you pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from drawing import Picture, width_of
from grammar import Choice, Node, Optional, Repeat, Rule, Sequence, Word, rules_of

__all__ = ["drawings"]

PAGE = Path(__file__).parents[1] / "reference" / "grammar.md"
SIZE, BOX, GAP, LANE, TURN = 13, 26, 16, 14, 12  # pixels; a lane is the room between two lines
WIDEST = 860
MARGIN, NAME = 20, 24  # of the picture, and for the name of a rule above its line

# Pictures by name: what they show, and their rules.
SHOWN = {
    "grammar-query": ("A query", ["query", "common", "body", "term", "part"]),
    "grammar-select": ("A SELECT", ["select", "item", "groups", "sets"]),
    "grammar-source": ("Sources and joins", ["source", "joined", "kind"]),
    "grammar-window": ("Windows", ["window", "interval"]),
    "grammar-service": ("Service clauses", ["service", "moment"]),
    "grammar-predicate": ("Expressions", ["predicate", "operand"]),
    "grammar-over": ("Functions over windows", ["call", "over", "rows", "range"]),
    "grammar-statement": (
        "Statements",
        ["create_stream", "create_history", "create_query", "create_alert", "create_view"],
    ),
}


@dataclass(frozen=True)
class Size:
    """A part of a railroad: how wide, and how far it reaches above and below its line."""

    width: float
    above: float
    below: float


def drawings() -> dict[str, partial[Picture]]:
    """A function for each picture."""
    return {name: partial(_picture, *shown) for name, shown in SHOWN.items()}


def _picture(title: str, names: list[str]) -> Picture:
    rules = rules_of(PAGE)
    rows = [(name, _broken(rules[name])) for name in names]
    sizes = [[_size(line) for line in lines] for _, lines in rows]
    height = MARGIN + sum(
        NAME + sum(each.above + each.below + LANE for each in row) for row in sizes
    )
    picture = Picture(WIDEST, round(height + MARGIN / 2), f"{title}: the grammar as railroads")
    y = float(MARGIN)
    for (name, lines), row in zip(rows, sizes, strict=True):
        picture.text(MARGIN, y + 8, name.replace("_", " "), 13, tone="purple", bold=True)
        y += NAME
        for number, (line, size) in enumerate(zip(lines, row, strict=True)):
            _line(picture, y + size.above, line, number, len(lines))
            y += size.above + size.below + LANE
    return picture


def _line(picture: Picture, y: float, line: Node, number: int, count: int) -> None:
    """One line of a rule; dots where it goes on, and begins again."""
    start, width = MARGIN + 4, _size(line).width
    end = start + GAP + width
    if number == 0:
        picture.dot(start, y, 4, "plain")
    else:
        picture.text(start - 8, y + 4, "...", 13, tone="quiet")
    picture.line((start + (0 if number == 0 else 6), y), (start + GAP, y))
    _draw(picture, start + GAP, y, line)
    picture.line((end, y), (end + GAP, y))
    if number == count - 1:
        picture.dot(end + GAP, y, 4, "plain")
    else:
        picture.text(end + GAP + 3, y + 4, "...", 13, tone="quiet")


def _broken(node: Node) -> list[Node]:
    """A rule as lines that are no wider than the picture: a sequence is cut between its parts."""
    if not isinstance(node, Sequence):
        return [node]
    lines: list[list[Node]] = [[]]
    for part in node.parts:
        fits = _size(Sequence((*lines[-1], part))).width <= WIDEST - 2 * MARGIN - 3 * GAP - 20
        if lines[-1] and not fits:
            lines.append([])
        lines[-1].append(part)
    return [Sequence(tuple(line)) for line in lines]


def _size(node: Node) -> Size:
    if isinstance(node, Word | Rule):
        return Size(_box_width(node), BOX / 2, BOX / 2)
    if isinstance(node, Sequence):
        sizes = [_size(part) for part in node.parts]
        width = sum(each.width for each in sizes) + GAP * (len(sizes) - 1)
        return Size(width, max(s.above for s in sizes), max(s.below for s in sizes))
    if isinstance(node, Choice):
        first, *others = [_size(part) for part in node.parts]
        width = max(first.width, *(each.width for each in others)) + 4 * TURN
        below = first.below + sum(LANE + each.above + each.below for each in others)
        return Size(width, first.above, below)
    inside = _size(node.part)
    if isinstance(node, Optional):
        return Size(inside.width + 4 * TURN, inside.above + LANE, inside.below)
    way = LANE if node.least == 0 else 0
    return Size(inside.width + 4 * TURN, inside.above + way, inside.below + LANE)


def _draw(picture: Picture, x: float, y: float, node: Node) -> None:
    """The part, entered at x and y from the left, left at the same height."""
    if isinstance(node, Word | Rule):
        _box(picture, x, y, node)
    elif isinstance(node, Sequence):
        _sequence(picture, x, y, node)
    elif isinstance(node, Choice):
        _choice(picture, x, y, node)
    else:
        _around(picture, x, y, node)


def _box(picture: Picture, x: float, y: float, node: Word | Rule) -> None:
    tone, corner = ("blue", BOX / 2) if isinstance(node, Word) else ("plain", 3)
    width = _box_width(node)
    picture.box(
        x, y - BOX / 2, width, BOX, _label(node), tone=tone, size=SIZE, head=False, round_by=corner
    )


def _sequence(picture: Picture, x: float, y: float, node: Sequence) -> None:
    for number, part in enumerate(node.parts):
        if number:
            picture.line((x, y), (x + GAP, y))
            x += GAP
        _draw(picture, x, y, part)
        x += _size(part).width


def _choice(picture: Picture, x: float, y: float, node: Choice) -> None:
    right = x + _size(node).width
    lane = y
    for number, part in enumerate(node.parts):
        size = _size(part)
        if number:
            lane += LANE + size.above
            picture.line((x + TURN, y), (x + TURN, lane), (x + 2 * TURN, lane))
            picture.line((right - 2 * TURN, lane), (right - TURN, lane), (right - TURN, y))
        else:
            picture.line((x, y), (x + 2 * TURN, y))
            picture.line((right - 2 * TURN, y), (right, y))
        picture.line((x + 2 * TURN + size.width, lane), (right - 2 * TURN, lane))
        _draw(picture, x + 2 * TURN, lane, part)
        lane += size.below


def _around(picture: Picture, x: float, y: float, node: Optional | Repeat) -> None:
    """A way above for what may be left out, a way back below for what may come again."""
    inside = _size(node.part)
    right = x + inside.width + 4 * TURN
    picture.line((x, y), (x + 2 * TURN, y))
    picture.line((right - 2 * TURN, y), (right, y))
    _draw(picture, x + 2 * TURN, y, node.part)
    if isinstance(node, Optional) or node.least == 0:
        over = y - inside.above - LANE / 2
        start, end = x + TURN / 2, right - TURN / 2
        picture.line((start, y), (start, over), (end, over), (end, y))
    if isinstance(node, Repeat):
        back = y + inside.below + LANE / 2
        start, end = x + 1.5 * TURN, right - 1.5 * TURN
        middle = (start + end) / 2
        picture.line((end, y), (end, back), (middle, back))
        picture.arrow((end, back), (middle - 4, back))
        picture.line((middle, back), (start, back), (start, y))


def _label(node: Word | Rule) -> str:
    return node.text if isinstance(node, Word) else node.name.replace("_", " ")


def _box_width(node: Word | Rule) -> float:
    return max(BOX, width_of(_label(node), SIZE) + 16)
