"""A query from its text to the tree that it is bound to, and to the blocks that run it."""

from __future__ import annotations

from drawing import Picture

__all__ = ["tree_of_blocks"]

QUERY = (
    "SELECT l.location, l.n, d.mean",
    "FROM (SELECT t.location, COUNT(*) AS n",
    "      FROM temp [10 MINUTES] AS t,",
    "           smoke [10 MINUTES] AS s",
    "      WHERE t.location = s.location",
    "      GROUP BY t.location) AS l",
    "LEFT JOIN",
    "     (SELECT location, AVG(celsius) AS mean",
    "      FROM temp [1 DAY]",
    "      GROUP BY location) AS d",
    "ON d.location = l.location",
    "ORDER BY n DESC LIMIT 3",
)


def tree_of_blocks() -> Picture:
    """SQL on the left, the tree in the middle, what runs on the right."""
    picture = Picture(1060, 500, "One query: its text, the tree of relations, and what runs")
    picture.text(150, 28, "the query", 14, "middle", bold=True)
    picture.text(490, 28, "as written: a relation a node", 14, "middle", "blue", bold=True)
    picture.text(870, 28, "as it runs: operators over blocks", 14, "middle", "green", bold=True)
    for number, line in enumerate(QUERY):
        words = line.lstrip()
        indent = 6.7 * (len(line) - len(words))  # blanks at the start of a text are not drawn
        picture.text(14 + indent, 64 + 20 * number, words, 11, mono=True)
    picture.arrow((300, 180), (340, 180))
    picture.text(320, 168, "bind", 11, "middle", "quiet")
    _as_written(picture)
    picture.arrow((640, 180), (690, 180))
    picture.text(665, 168, "rules", 11, "middle", "quiet")
    _as_it_runs(picture)
    picture.text(
        530, 484, "changes go up: rows with weights +1 and -1, all nodes to the same instant", 12,
        "middle", "quiet",
    )  # fmt: skip
    return picture


def _as_written(picture: Picture) -> None:
    picture.box(410, 46, 150, 34, "first 3 by n DESC", tone="blue", size=12)
    picture.box(410, 104, 150, 34, "left join", tone="blue", size=12)
    picture.box(346, 170, 130, 46, "aggregate", "COUNT(*)", tone="blue", size=12)
    picture.box(346, 248, 130, 34, "where t = s", tone="blue", size=12)
    picture.box(346, 314, 130, 34, "join, all pairs", tone="blue", size=12)
    picture.box(340, 388, 66, 46, "temp", "10 min", size=12)
    picture.box(416, 388, 66, 46, "smoke", "10 min", size=12)
    picture.box(504, 170, 124, 46, "aggregate", "AVG(celsius)", tone="blue", size=12)
    picture.box(530, 388, 72, 46, "temp", "1 day", size=12)
    for start, end in [
        ((373, 388), (396, 348)),
        ((449, 388), (426, 348)),
        ((411, 314), (411, 282)),
        ((411, 248), (411, 216)),
        ((411, 170), (455, 138)),
        ((566, 388), (566, 216)),
        ((566, 170), (515, 138)),
        ((485, 104), (485, 80)),
    ]:
        picture.arrow(start, end, tone="blue")


def _as_it_runs(picture: Picture) -> None:
    picture.box(790, 46, 160, 40, "first 3 by n DESC", "rows in order", tone="green", size=12)
    picture.box(790, 116, 160, 40, "left join", "rows by location", tone="green", size=12)
    picture.frame(704, 204, 190, 240, "block: factorised", "orange")
    picture.box(716, 236, 166, 60, "COUNT(*) by location", "a count for each key", "and input",
                tone="orange", size=12)  # fmt: skip
    picture.box(716, 364, 76, 62, "temp", "10 min", size=12)
    picture.box(806, 364, 76, 62, "smoke", "10 min", size=12)
    picture.arrow((754, 364), (780, 296), tone="orange")
    picture.arrow((844, 364), (818, 296), tone="orange")
    picture.text(799, 334, "no pair is formed", 11, "middle", "orange")
    picture.frame(906, 204, 142, 240, "block: factorised", "orange")
    picture.box(916, 236, 122, 60, "AVG by location", "a state for", "each group",
                tone="orange", size=12)  # fmt: skip
    picture.box(938, 364, 76, 62, "temp", "1 day", size=12)
    picture.arrow((976, 364), (976, 296), tone="orange")
    picture.arrow((799, 204), (840, 156), tone="green")
    picture.arrow((976, 204), (900, 156), tone="green")
    picture.arrow((870, 116), (870, 86), tone="green")
