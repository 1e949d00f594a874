"""A small kit for drawings: boxes, arrows, words and bars, written as SVG.

Colours are classes, so that one file serves light and dark pages; the ground is painted, so
that it is legible on any. Words stay words. The kit knows about how wide they are, and refuses a
drawing in which they leave their box or lie upon each other.
"""

from __future__ import annotations

from html import escape
from math import atan2, cos, sin

__all__ = ["Picture", "width_of"]

# Per tone: the paper of a box, its border, and words of that colour; in light, then in dark.
TONES = {
    "plain": ("#f6f8fa", "#818b98", "#1f2328", "#151b23", "#656c76", "#f0f6fc"),
    "quiet": ("#ffffff", "#d1d9e0", "#59636e", "#0d1117", "#3d444d", "#9198a1"),
    "blue": ("#ddf4ff", "#0969da", "#0550ae", "#0c2d6b", "#4493f8", "#79c0ff"),
    "green": ("#dafbe1", "#1a7f37", "#116329", "#033a16", "#3fb950", "#56d364"),
    "orange": ("#fff1e5", "#bc4c00", "#953800", "#4a1f0a", "#db6d28", "#ffa657"),
    "purple": ("#fbefff", "#8250df", "#6639ba", "#35185c", "#ab7df8", "#d2a8ff"),
    "red": ("#ffebe9", "#cf222e", "#a40e26", "#4e0c14", "#f85149", "#ff7b72"),
}
GROUND = ("#ffffff", "#0d1117")
FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
MONO = "'SF Mono', Menlo, Consolas, 'Liberation Mono', monospace"

# In parts of the size of the font; other small letters 0.56, large ones 0.7.
NARROW = frozenset("iljtf.,:;'|!()[]I /-")
WIDE = frozenset("mwMW@%+=<>\N{MULTIPLICATION SIGN}\N{MINUS SIGN}\N{RIGHTWARDS ARROW}")
WIDTHS = ((NARROW, 0.31), (WIDE, 0.86), (frozenset("0123456789"), 0.62))
MONO_WIDTH = 0.61


def width_of(words: str, size: float, *, bold: bool = False, mono: bool = False) -> float:
    """About how wide words are, rather more than less."""
    if mono:
        return MONO_WIDTH * size * len(words)
    units = sum(
        next((width for kind, width in WIDTHS if each in kind), 0.7 if each.isupper() else 0.56)
        for each in words
    )
    return units * size * (1.15 if bold else 1.04)


class Picture:
    """A drawing of a fixed size, in pixels from the top left corner."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self._parts: list[str] = []
        self._used: set[str] = set()
        self._words: list[tuple[float, float, float, float, str]] = []

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *lines: str,
        tone: str = "plain",
        size: float = 13,
        head: bool = True,
        dashed: bool = False,
        round_by: float = 6,
    ) -> None:
        """A box with words in its middle; the first line is its heading, unless told otherwise."""
        self._rectangle(x, y, width, height, tone, dashed, round_by)
        step = size + 4
        top = y + height / 2 - step * (len(lines) - 1) / 2 + size * 0.36
        for number, line in enumerate(lines):
            bold = head and number == 0
            small = size if bold or not head else size - 1
            wide = width_of(line, small, bold=bold)
            assert wide <= width - 4, f"{line!r} is about {wide:.0f} wide, in a box of {width}"
            middle = x + width / 2
            self.text(middle, top + step * number, line, small, "middle", tone, bold=bold)

    def frame(self, x: float, y: float, width: float, height: float, title: str, tone: str) -> None:
        """A room that other things stand in, with its title in the upper left corner."""
        self._rectangle(x, y, width, height, "quiet", False, 10)
        self._rectangle(x, y, width, height, tone, True, 10, filled=False)
        self.text(x + 12, y + 19, title, 13, tone=tone, bold=True)

    def bar(
        self, x: float, y: float, width: float, height: float, tone: str, *, dashed: bool = False
    ) -> None:
        """A rectangle without words and without round corners."""
        self._rectangle(x, y, width, height, tone, dashed, 2)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float = 13,
        anchor: str = "start",
        tone: str = "plain",
        *,
        bold: bool = False,
        mono: bool = False,
    ) -> None:
        """One line of words; y is its base line."""
        wide = width_of(words, size, bold=bold, mono=mono)
        left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        assert left >= 0, f"{words!r} begins at {left:.0f}"
        assert left + wide <= self.width, f"{words!r} ends at {left + wide:.0f} of {self.width}"
        # What was guessed is a little too wide, which is no reason to find fault with neighbours.
        self._words.append((left + 2, y - size * 0.7, left + wide * 0.94 - 2, y, words))
        extra = ' font-weight="bold"' * bold + f' font-family="{MONO}"' * mono
        if anchor != "start":
            extra += f' text-anchor="{anchor}"'
        self._add(
            f'<text x="{_n(x)}" y="{_n(y)}" font-size="{_n(size)}" class="t-{tone}"{extra}>'
            f"{escape(words, quote=False)}</text>",
            tone,
        )

    def line(
        self,
        *points: tuple[float, float],
        tone: str = "plain",
        dashed: bool = False,
        wide: float = 1.5,
    ) -> None:
        """A line through points."""
        dash = ' stroke-dasharray="5 4"' * dashed
        way = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        look = f'fill="none" class="l-{tone}" stroke-width="{_n(wide)}"{dash}'
        self._add(f'<polyline points="{way}" {look}/>', tone)

    def arrow(
        self, *points: tuple[float, float], tone: str = "plain", dashed: bool = False
    ) -> None:
        """A line with a head at its last point."""
        (x1, y1), (x2, y2) = points[-2:]
        angle = atan2(y2 - y1, x2 - x1)
        back = [(x2 - 9 * cos(angle + turn), y2 - 9 * sin(angle + turn)) for turn in (0.42, -0.42)]
        stop = (x2 - 6 * cos(angle), y2 - 6 * sin(angle))
        self.line(*points[:-1], stop, tone=tone, dashed=dashed)
        head = " ".join(f"{_n(x)},{_n(y)}" for x, y in [(x2, y2), *back])
        self._add(f'<polygon points="{head}" class="h-{tone}"/>', tone)

    def dot(self, x: float, y: float, radius: float, tone: str, *, hollow: bool = False) -> None:
        """A row, mostly."""
        kind = "d" if hollow else "h"
        self._add(
            f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" class="{kind}-{tone}"/>', tone
        )

    def _rectangle(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        tone: str,
        dashed: bool,
        round_by: float,
        *,
        filled: bool = True,
    ) -> None:
        assert 0 <= x <= x + width <= self.width, f"a box from {x} to {x + width}"
        assert 0 <= y <= y + height <= self.height, f"a box down to {y + height} of {self.height}"
        dash = ' stroke-dasharray="5 4"' * dashed
        kind = "b" if filled else "o"
        self._add(
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" '
            f'rx="{_n(round_by)}" class="{kind}-{tone}"{dash}/>',
            tone,
        )

    def _add(self, part: str, tone: str) -> None:
        self._used.add(tone)
        self._parts.append(part)

    def to_svg(self) -> str:
        """The whole drawing; the same one each time."""
        self._check_words()
        size = (
            f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        )
        parts = "\n".join(self._parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT}">\n'
            f"<title>{escape(self.title, quote=False)}</title>\n"
            f"<style>\n{self._style()}</style>\n"
            f'<rect width="{self.width}" height="{self.height}" rx="8" class="ground"/>\n'
            f"{parts}\n</svg>\n"
        )

    def _style(self) -> str:
        tones = sorted(self._used)
        light = "".join(_rules(tone, TONES[tone][:3]) for tone in tones)
        dark = "".join(_rules(tone, TONES[tone][3:]) for tone in tones)
        return (
            f".ground{{fill:{GROUND[0]}}}\n{light}"
            f"@media (prefers-color-scheme: dark){{\n.ground{{fill:{GROUND[1]}}}\n{dark}}}\n"
        )

    def _check_words(self) -> None:
        for number, (left, top, right, base, words) in enumerate(self._words):
            for other in self._words[:number]:
                apart = right < other[0] or other[2] < left or base < other[1] or other[3] < top
                assert apart, f"{words!r} lies upon {other[4]!r}"


def _rules(tone: str, colours: tuple[str, ...]) -> str:
    paper, border, words = colours
    return (
        f".b-{tone}{{fill:{paper};stroke:{border}}}.o-{tone}{{fill:none;stroke:{border}}}"
        f".l-{tone}{{stroke:{border}}}.h-{tone}{{fill:{border}}}"
        f".d-{tone}{{fill:{paper};stroke:{border};stroke-width:1.5}}.t-{tone}{{fill:{words}}}\n"
    )


def _n(number: float) -> str:
    """A number with one digit behind the point at the most."""
    return f"{number:.1f}".removesuffix(".0")
