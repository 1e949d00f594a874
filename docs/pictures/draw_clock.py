"""Event time: what completes a stream, what waits, what is late."""

from __future__ import annotations

from drawing import Picture

__all__ = ["clock"]

LATENESS_S = 10
LEFT, SECOND = 128, 12  # where second 0 is drawn, and how wide a second


def clock() -> Picture:
    """Two streams, one with a lateness, and the clock of a query over both."""
    picture = Picture(860, 350, "Completeness, the clock and a late row")
    temp, smoke = [4, 12, 9, 25, 21, 38, 33], [6, 18, 30, 41]
    temp_complete, smoke_complete = max(temp) - LATENESS_S, max(smoke)
    now = min(temp_complete, smoke_complete)

    picture.bar(_x(0), 62, _x(now) - _x(0), 198, "green")
    picture.text(_x(0) + 8, 54, "at or below the clock: in the answers", 12, tone="green")
    picture.line((_x(now), 40), (_x(now), 268), tone="green", wide=2.5)
    picture.text(
        _x(now) + 6, 40, f"clock: the smaller completeness, {now} s", 13, tone="green", bold=True
    )

    _stream(picture, 112, "temp", "lateness 10 s", temp, now)
    _stream(picture, 204, "smoke", "lateness 0 s", smoke, now)

    newest = max(temp)
    picture.arrow((_x(newest), 142), (_x(temp_complete), 142), tone="blue")
    picture.text(_x(newest) + 10, 147, "38 s less 10 s: complete through 28 s", 12, tone="blue")
    picture.text(_x(smoke_complete) + 12, 238, "complete through 41 s", 12, tone="blue")
    picture.text(_x(smoke_complete) + 12, 178, "above the clock: rows wait", 12, tone="quiet")

    late = 16
    picture.dot(_x(late), 100, 6, "red")
    picture.arrow((_x(late), 94), (_x(late), 78), (24, 78), (24, 286), tone="red")
    picture.text(_x(late) - 10, 95, "a row of 16 s comes now", 12, "end", "red")
    picture.text(16, 302, "late: counted, kept for late(), never applied", 12, tone="red")

    picture.arrow((_x(0), 268), (_x(60), 268))
    for second in range(0, 60, 10):
        picture.line((_x(second), 264), (_x(second), 272))
        picture.text(_x(second), 288, f"{second} s", 12, "middle", "quiet")
    picture.text(_x(60), 312, "event time", 12, "end", "quiet")
    picture.text(
        16,
        336,
        "Numbers tell in which order rows came. Completeness is a microsecond less than drawn: "
        "rows of an equal time may follow.",
        12,
        tone="quiet",
    )
    return picture


def _stream(
    picture: Picture, y: float, name: str, lateness: str, seconds: list[int], now: int
) -> None:
    picture.text(118, y + 2, name, 14, "end", bold=True)
    picture.text(118, y + 18, lateness, 11, "end", "quiet")
    picture.line((_x(0), y), (_x(58), y), tone="quiet")
    for number, second in enumerate(seconds, 1):
        waits = second > now
        picture.dot(_x(second), y, 6, "blue", hollow=waits)
        picture.text(_x(second), y + 21, str(number), 11, "middle", "quiet")


def _x(second: float) -> float:
    return LEFT + SECOND * second
