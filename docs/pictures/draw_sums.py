"""Exact sums: numbers as limbs, compared with the same sum in doubles."""

from __future__ import annotations

from fractions import Fraction

from drawing import Picture

from windrow.exact.kernels import LIMB_BITS

__all__ = ["limbs"]

LIMBS = (1, 0, -1, -2)  # limb i weighs 2 ** (32 * i); the ones that these values fall on
STEPS = [("1e16 enters", 1e16), ("0.1 enters", 0.1), ("0.2 enters", 0.2), ("1e16 leaves", -1e16)]


def limbs() -> Picture:
    """A value that is large and leaves again takes nothing with it."""
    picture = Picture(880, 330, "A sum as limbs, compared with the same sum in doubles")
    picture.text(150, 54, "sum after it", 12, "end", "quiet")
    for place, limb in enumerate(LIMBS):
        x = 166 + 118 * place
        picture.text(x + 54, 36, f"weight 2^{LIMB_BITS * limb}", 11, "middle", "quiet")
    picture.text(712, 36, "rounded", 12, "middle", "green", bold=True)
    picture.text(816, 36, "in doubles", 12, "middle", "red", bold=True)
    exact, rounded = Fraction(0), 0.0
    for row, (words, value) in enumerate(STEPS):
        exact, rounded = exact + Fraction(value), rounded + value
        y = 66 + 56 * row
        picture.text(150, y + 24, words, 13, "end", bold=True)
        for place, limb in enumerate(LIMBS):
            digits = f"{_limb(exact, limb):08x}"
            tone = "quiet" if int(digits, 16) == 0 else "blue"
            picture.box(166 + 118 * place, y, 108, 38, tone=tone, round_by=3)
            picture.text(220 + 118 * place, y + 24, digits, 13, "middle", tone, mono=True)
        picture.text(712, y + 24, repr(float(exact)), 12, "middle", "green")
        picture.text(816, y + 24, repr(rounded), 12, "middle", "red")
    picture.text(
        20,
        316,
        "Limbs are added and taken away as integers, and rounded once, when an answer is made.",
        12,
    )
    return picture


def _limb(value: Fraction, limb: int) -> int:
    """The 32 bits of a value that is not negative, from the weight of the limb on."""
    scaled = value / Fraction(2) ** (LIMB_BITS * limb)
    return int(scaled) % (1 << LIMB_BITS)
