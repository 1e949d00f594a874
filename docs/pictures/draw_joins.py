"""Join-aggregates: states per key against stored pairs, and the three algorithms on joined rows."""

from __future__ import annotations

from drawing import Picture

__all__ = ["factorised", "on_joined_rows"]

LEFT = {"kitchen": 3, "lab": 1}  # rows of A in the window, by key
RIGHT = {"kitchen": 4, "lab": 2}


def factorised() -> Picture:
    """The same two windows, joined by listing pairs and by multiplying states."""
    pairs = {key: LEFT[key] * RIGHT[key] for key in LEFT}
    picture = Picture(860, 420, "Stored pairs against a state for each key")
    picture.text(200, 28, "every joined pair is stored", 14, "middle", "red", bold=True)
    picture.text(640, 28, "a count for each key and input", 14, "middle", "green", bold=True)
    picture.line((410, 16), (410, 404), tone="quiet", dashed=True)

    _pairs(picture, "kitchen", 48)
    _pairs(picture, "lab", 222)
    picture.text(200, 340, f"{sum(pairs.values())} pairs held", 13, "middle", "red")
    picture.text(200, 360, "a row that comes or goes touches", 12, "middle", "quiet")
    picture.text(200, 377, "as many as it joins with", 12, "middle", "quiet")

    for y, key in [(70, "kitchen"), (170, "lab")]:
        picture.box(440, y, 90, 56, key, "join key")
        picture.box(548, y, 84, 56, f"A: {LEFT[key]}", "rows", tone="blue")
        picture.text(640, y + 34, "\N{MULTIPLICATION SIGN}", 16, "middle")
        picture.box(650, y, 84, 56, f"B: {RIGHT[key]}", "rows", tone="orange")
        picture.text(744, y + 34, "=", 16, "middle")
        picture.box(756, y, 84, 56, str(pairs[key]), "joined", tone="green")
    picture.line((756, 238), (840, 238))
    picture.text(798, 258, f"COUNT(*) = {sum(pairs.values())}", 13, "middle", "green", bold=True)

    more = LEFT["kitchen"] + 1
    picture.box(
        440, 286, 400, 78, "a row of A with key kitchen enters",
        f"A of kitchen: {more - 1} → {more}", f"COUNT(*) grows by B of kitchen: {RIGHT['kitchen']}",
        tone="blue",
    )  # fmt: skip
    picture.text(
        640, 388, "two touches a row in its life, whatever it joins with", 12, "middle", "quiet"
    )
    return picture


def _pairs(picture: Picture, key: str, top: float) -> None:
    left, right = LEFT[key], RIGHT[key]
    tall = 150 if left > 1 else 80
    picture.text(28, top + tall / 2, key, 13, bold=True)
    left_at = [top + tall * (n + 0.5) / left for n in range(left)]
    right_at = [top + tall * (n + 0.5) / right for n in range(right)]
    for one in left_at:
        for other in right_at:
            picture.line((140, one), (300, other), tone="red", wide=1)
    for y in left_at:
        picture.dot(140, y, 8, "blue")
    for y in right_at:
        picture.dot(300, y, 8, "orange")
    if key == "kitchen":
        picture.text(118, top + 16, "A", 13, "end", "blue", bold=True)
        picture.text(322, top + 16, "B", 13, tone="orange", bold=True)


def on_joined_rows() -> Picture:
    """What pipelined, incremental and charged do with the same row."""
    picture = Picture(
        860,
        400,
        "Three algorithms on joined rows: what is done when a row enters, and when it leaves",
    )
    columns = [
        ("pipelined", "PC", "red", "stores each joined row"),
        ("incremental", "IC", "blue", "adds each joined row"),
        ("charged", "TC", "green", "charges each joined row"),
    ]
    ends = [
        ("drops the joined rows", "that it is part of", "rows + joined rows"),
        ("finds them again", "and takes them away", "rows"),
        ("takes back its charge,", "without a look at B", "rows + a record a row"),
    ]
    for number, (name, short, tone, enters) in enumerate(columns):
        leaves, rest, memory = ends[number]
        x = 22 + 280 * number
        picture.frame(x, 14, 256, 372, f"{name} ({short})", tone)
        _matches(picture, x, tone, name)
        picture.text(x + 128, 206, "a row of A enters:", 12, "middle", "quiet")
        picture.text(x + 128, 223, "finds its matches,", 12, "middle", tone)
        picture.text(x + 128, 240, enters, 12, "middle", tone)
        picture.text(x + 128, 264, "it leaves:", 12, "middle", "quiet")
        picture.text(x + 128, 281, leaves, 12, "middle", tone)
        picture.text(x + 128, 298, rest, 12, "middle", tone)
        picture.box(x + 24, 328, 208, 44, "memory", memory, tone=tone)
    return picture


def _matches(picture: Picture, x: float, tone: str, name: str) -> None:
    rows = [70, 110, 150]
    for y, charge in zip(rows, ("+1", "+1", ""), strict=True):
        matches = bool(charge)
        if matches:
            picture.line((x + 50, 90), (x + 150, y), tone=tone, dashed=name != "pipelined")
        picture.dot(x + 150, y, 9, "orange", hollow=not matches)
    picture.dot(x + 50, 90, 9, "blue")
    picture.text(x + 50, 68, "A", 13, "middle", "blue", bold=True)
    picture.text(x + 150, 54, "B", 13, "middle", "orange", bold=True)
    if name == "pipelined":
        for y in rows[:2]:
            picture.box(x + 178, y - 14, 64, 28, "a · b", tone=tone, size=12)
    elif name == "incremental":
        picture.box(x + 178, 74, 64, 34, "sum + 2", tone=tone, size=12)
    else:
        # The row of B at 70 leaves before the new row does; the one at 110 after it.
        picture.text(x + 168, 67, "b leaves", 11, tone=tone)
        picture.text(x + 168, 81, "first: +1", 11, tone=tone)
        picture.text(x + 50, 122, "a leaves", 11, "middle", tone)
        picture.text(x + 50, 136, "first: +1", 11, "middle", tone)
