"""Exactly once on Spark: what is written when, and what a crash leads back to."""

from __future__ import annotations

from drawing import Picture

__all__ = ["exactly_once"]


def exactly_once() -> Picture:
    """One batch from its offsets to its commit, and the way back."""
    picture = Picture(900, 430, "Exactly once on Spark: one batch, and the way back after a crash")
    steps = [
        ("offsets of n", "Spark writes down", "which rows it has", "plain"),
        ("tasks", "pack, shuffle, shard;", "state of n is stored", "green"),
        ("sink", "gets the answers", "with the number n", "purple"),
        ("save", "what the driver knows", "after n, under n", "blue"),
        ("commit of n", "Spark writes down", "that n is done", "plain"),
    ]
    for number, (name, first, second, tone) in enumerate(steps):
        x = 16 + 178 * number
        picture.box(x, 40, 156, 76, f"{number + 1} {name}", first, second, tone=tone)
        if number:
            picture.arrow((x - 22, 78), (x, 78))
    picture.text(16, 26, "batch n", 14, bold=True)

    for number in range(4):
        x = 183 + 178 * number
        picture.line((x, 112), (x, 146), tone="red", wide=2)
        picture.line((x - 7, 152), (x + 7, 166), tone="red", wide=2)
        picture.line((x - 7, 166), (x + 7, 152), tone="red", wide=2)
    picture.text(
        450,
        190,
        "killed at any of these places, or in the middle of a step:",
        13,
        "middle",
        "red",
        bold=True,
    )

    picture.frame(16, 208, 868, 136, "batch n again", "orange")
    again = [
        ("same rows", "from the offsets;", "orders are rows, too", "plain"),
        ("state of n \N{MINUS SIGN} 1", "a live shard with another", "nonce is not used", "green"),
        ("same answers", "with the same", "number n", "purple"),
        ("saved n \N{MINUS SIGN} 1", "the driver goes back", "to what it knew", "blue"),
    ]
    for number, (name, first, second, tone) in enumerate(again):
        x = 34 + 212 * number
        picture.box(x, 244, 196, 80, name, first, second, tone=tone)
    picture.text(16, 370, "The sink recognises n:", 13, bold=True)
    picture.text(16, 390, "parquet: the file of batch n is replaced", 12, tone="purple")
    picture.text(310, 390, "delta, postgres: n is in the same commit", 12, tone="purple")
    picture.text(610, 390, "kafka: one transaction holds n", 12, tone="purple")
    picture.text(
        16,
        412,
        "a function of yours: is called again with the same rows and the same n",
        12,
        tone="quiet",
    )
    return picture
