"""How alike two texts are, and how they sound."""

from __future__ import annotations

__all__ = ["jaro_winkler", "levenshtein", "soundex"]

_CODES = {
    **dict.fromkeys("BFPV", "1"),
    **dict.fromkeys("CGJKQSXZ", "2"),
    **dict.fromkeys("DT", "3"),
    "L": "4",
    **dict.fromkeys("MN", "5"),
    "R": "6",
}
_PREFIX = 4


def soundex(text: str) -> str:
    """The American code of how a word sounds; what does not begin with a letter stays as it is."""
    if not text or not ("A" <= text[0].upper() <= "Z" and text[0].isascii()):
        return text
    letters = "".join(letter.upper() if letter.isascii() else letter for letter in text)
    found, last = letters[0], _CODES.get(letters[0], "0")
    for letter in letters[1:]:
        if not "A" <= letter <= "Z":
            last = "0"
            continue
        code = _CODES.get(letter, "0")
        if code != "0" and code != last:
            found += code
        if letter not in "HW":
            last = code
        if len(found) == _PREFIX:
            break
    return found.ljust(_PREFIX, "0")


def levenshtein(one: str, other: str, threshold: int | None = None) -> int:
    """The least number of letters to change, add or take away; -1 above the threshold."""
    found = _distance(one, other) if one and other else len(one) + len(other)
    return found if threshold is None or found <= threshold else -1


def _distance(one: str, other: str) -> int:
    """A column of the table of distances at a time, as the bits of one number (Myers).

    more and less: where a distance is one above or below that of the letter before it.
    """
    places: dict[str, int] = {}
    for place, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << place
    last, every = 1 << (len(one) - 1), (1 << len(one)) - 1
    found, more, less = len(one), every, 0
    for letter in other:
        same = places.get(letter, 0)
        kept = same | less
        across = (((same & more) + more) ^ more) | same
        rising, falling = (less | ~(across | more)) & every, more & across
        found += bool(rising & last) - bool(falling & last)
        rising, falling = (rising << 1 | 1) & every, (falling << 1) & every
        more, less = (falling | ~(kept | rising)) & every, rising & kept
    return found


def jaro_winkler(one: str, other: str) -> float:
    """From 0 to 1: letters in common at nearly the same place, more for a common beginning."""
    if not one and not other:
        return 1.0
    # Java's letters are halves of UTF-16: what is beyond the first plane counts twice.
    one, other = _halves(one), _halves(other)
    likeness = _jaro(one, other)
    common = 0
    for letter, wanted in zip(one[:_PREFIX], other[:_PREFIX], strict=False):
        if letter != wanted:
            break
        common += 1
    return likeness + 0.1 * common * (1.0 - likeness)


def _halves(text: str) -> str:
    coded = text.encode("utf-16-be")
    return "".join(chr(int.from_bytes(coded[at : at + 2])) for at in range(0, len(coded), 2))


def _jaro(one: str, other: str) -> float:
    reach = max(len(one), len(other)) // 2 - 1
    taken = [False] * len(other)
    matched: list[str] = []
    for place, letter in enumerate(one):
        for near in range(max(0, place - reach), min(len(other), place + reach + 1)):
            if not taken[near] and other[near] == letter:
                taken[near] = True
                matched.append(letter)
                break
    if not matched:
        return 0.0
    mirrored = [letter for letter, used in zip(other, taken, strict=True) if used]
    swapped = sum(left != right for left, right in zip(matched, mirrored, strict=True)) // 2
    count = len(matched)
    return (count / len(one) + count / len(other) + (count - swapped) / count) / 3.0
