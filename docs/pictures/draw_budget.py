"""Windows under a budget: the three levels, and windows that take turns; drawn from decisions."""

from __future__ import annotations

from drawing import Picture

from windrow.governor.admission import Refused
from windrow.governor.decide import decide
from windrow.governor.tables import SECOND_US, Decision, Demand, WindowState
from windrow.governor.turns import width_at_us

__all__ = ["levels", "turns"]

# Two windows of 100 rows of 10 bytes a second: a second of width takes a kilobyte.
WINDOWS = [WindowState("door", row_bytes=10, rate=100), WindowState("lamp", row_bytes=10, rate=100)]
DEMANDS = [
    Demand("door1", "door", 60 * SECOND_US, 10 * SECOND_US, 20 * SECOND_US),
    Demand("door2", "door", 40 * SECOND_US, 0, 0),
    Demand("lamp1", "lamp", 40 * SECOND_US, 5 * SECOND_US, 25 * SECOND_US),
    Demand("lamp2", "lamp", 27 * SECOND_US, 0, 0),
]
TONE = {"A": "green", "B": "blue", "C": "orange"}


def levels() -> Picture:
    """The same queries under three budgets."""
    picture = Picture(860, 396, "Widths under a budget: levels A, B and C")
    left, second = 150, 8.6
    for row, (budget, words) in enumerate(
        [(120, "all ranges fit: exact"), (90, "ranges less tolerances fit"), (77, "only by turns")]
    ):
        top = 44 + 112 * row
        decision = _decided(budget)
        tone = TONE[decision.case]
        picture.box(16, top, 112, 80, f"{budget} kB", f"level {decision.case}", tone=tone)
        picture.text(left, top - 8, words, 12, tone=tone)
        for number, given in enumerate(decision.widths):
            y = top + 44 * number
            wide = given.width_us / SECOND_US
            picture.bar(left, y, second * wide, 24, tone)
            picture.text(left + 6, y + 16, f"{given.window} {wide:.0f} s", 12, tone=tone, bold=True)
            if given.turn is not None:
                grown = given.turn.growth_us / SECOND_US
                picture.bar(left + second * wide, y, second * grown, 24, tone, dashed=True)
                label = f"+ {grown:.0f} s in its turn"
                picture.text(left + second * (wide + grown) + 8, y + 16, label, 12, tone=tone)
            _needs(picture, given.window, left, second, y)
    picture.text(left, 380, "below a bar, for each of its queries:", 12, tone="quiet")
    for x, words, dashed in [(400, "range", False), (480, "range less tolerance", True)]:
        picture.line((x, 368), (x, 382), wide=2, dashed=dashed)
        picture.text(x + 8, 380, words, 12, tone="quiet")
    return picture


def _needs(picture: Picture, window: str, left: float, second: float, y: float) -> None:
    for demand in DEMANDS:
        if demand.window == window:
            whole = left + second * demand.range_us / SECOND_US
            least = whole - second * demand.tolerance_us / SECOND_US
            picture.line((whole, y + 26), (whole, y + 38), wide=2)
            if least < whole:
                picture.line((least, y + 26), (least, y + 38), dashed=True)
                picture.line((least, y + 32), (whole, y + 32), tone="quiet")


def turns() -> Picture:
    """How wide the windows are at level C, second by second, and what they take together."""
    picture = Picture(860, 400, "Windows that take turns share memory to grow into")
    decision = _decided(77)
    left, second, base, kilobyte = 70, 17.0, 340, 3.6
    door, lamp = decision.widths
    for at in range(44):
        widths = [width_at_us(each, at * SECOND_US) / SECOND_US for each in (door, lamp)]
        x, y = left + second * at, base
        for given, wide, tone in zip((door, lamp), widths, ("blue", "orange"), strict=True):
            still = min(wide, given.width_us / SECOND_US)
            y -= kilobyte * still
            picture.bar(x, y, second - 2, kilobyte * still, tone)
            if wide > still:
                y -= kilobyte * (wide - still)
                picture.bar(x, y, second - 2, kilobyte * (wide - still), "green")
    top = base - kilobyte * 77
    picture.line((left - 8, top), (left + second * 44 + 4, top), tone="red", dashed=True)
    picture.text(left, top - 10, "budget: 77 kB", 12, tone="red", bold=True)
    for given, name, y in [(door, "door1", 356), (lamp, "lamp1", 356)]:
        assert given.turn is not None
        end = (given.turn.start_us + given.turn.growth_us) // SECOND_US
        for at in range(end, 44, given.turn.period_us // SECOND_US):
            picture.arrow((left + second * at + 7, base + 4), (left + second * at + 7, base + 22))
            picture.text(left + second * at + 7, y + 22, f"{name} answered", 11, "middle")
    picture.text(58, 300, "door", 12, "end", "blue", bold=True)
    picture.text(58, 316, "40 kB", 11, "end", "blue")
    picture.text(58, 150, "lamp", 12, "end", "orange", bold=True)
    picture.text(58, 166, "27 kB", 11, "end", "orange")
    picture.text(
        left + 300, top - 10, "green: 10 kB that one window has at a time", 12, tone="green"
    )
    picture.text(left, 396, "a bar for each second", 11, tone="quiet")
    return picture


def _decided(kilobytes: int) -> Decision:
    decision = decide(WINDOWS, DEMANDS, budget=1000 * kilobytes)
    assert not isinstance(decision, Refused)
    return decision
