"""Functions of single texts in Python, called once for each different row of arguments."""

from __future__ import annotations

from windrow.rows.scalar.likenesses import jaro_winkler, levenshtein, soundex
from windrow.rows.scalar.values import Function, NoValueError, per_value

__all__ = ["TEXT_VALUES"]


def _part(text: str, start: int, count: int | None = None) -> str:
    begin = start - 1 if start > 0 else start + len(text) if start < 0 else 0
    end = len(text) if count is None else begin + count
    return text[max(0, begin) : max(0, end)]


def _right(text: str, count: int) -> str:
    return text[-count:] if count > 0 else ""


def _replace(text: str, old: str, new: str = "") -> str:
    return text.replace(old, new) if old else text


def _pad(text: str, length: int, padding: str = " ", *, is_left: bool) -> str:
    missing = max(0, length - len(text))
    if not missing or not padding:
        return text[: max(0, length)]
    filled = (padding * (missing // len(padding) + 1))[:missing]
    return filled + text if is_left else text + filled


def _overlay(text: str, new: str, position: int, length: int = -1) -> str:
    taken = len(new) if length < 0 else length
    return _part(text, 1, position - 1) + new + _part(text, position + taken)


def _split_part(text: str, delimiter: str, number: int) -> str:
    if number == 0:
        raise NoValueError
    parts = text.split(delimiter) if delimiter else [text]
    place = number - 1 if number > 0 else number
    return parts[place] if -len(parts) <= place < len(parts) else ""


def _substring_index(text: str, delimiter: str, count: int) -> str:
    if not delimiter or count == 0:
        return ""
    parts = text.split(delimiter) if count > 0 else _split_from_end(text, delimiter)
    return delimiter.join(parts[:count] if count > 0 else parts[count:])


def _split_from_end(text: str, delimiter: str) -> list[str]:
    """The parts as a search from the end finds them; delimiters that overlap come out otherwise."""
    return text.rsplit(delimiter)


def _title(text: str) -> str:
    """A capital at the beginning of each word; words are what spaces part."""
    return " ".join(word[:1].title() + word[1:].lower() for word in text.split(" "))


Mask = str | None


def _mask(
    text: str, upper: Mask = "X", lower: Mask = "x", digit: Mask = "n", other: Mask = None
) -> str:
    def masked(letter: str) -> str:
        if letter.isupper():
            return letter if upper is None else upper
        if letter.islower():
            return letter if lower is None else lower
        if letter.isdigit():
            return letter if digit is None else digit
        return letter if other is None else other

    return "".join(map(masked, text))


def _mask_of_any(text: str | None, *masks: str | None) -> str | None:
    if text is None:
        return None
    if any(mask is not None and len(mask) != 1 for mask in masks):
        raise NoValueError
    return _mask(text, *masks)


def _character(code: int) -> str:
    return "" if code < 0 else chr(code & 0xFF)


def _chosen(number: int | None, *texts: str | None) -> str | None:
    if number is None:
        return None
    if not 1 <= number <= len(texts):
        raise NoValueError
    return texts[number - 1]


def _locate(part: str | None, text: str | None, start: int | None = 1) -> int | None:
    if start is None:
        return 0
    if part is None or text is None:
        return None
    if start < 1:
        return 0
    return text.find(part, start - 1) + 1 if part else 1


def _in_set(text: str, listed: str) -> int:
    parts = listed.split(",")
    return parts.index(text) + 1 if "," not in text and text in parts else 0


def _quoted(text: str) -> str:
    escaped = text.replace("'", "\\'")
    return f"'{escaped}'"


def _is_luhn(text: str) -> bool:
    if not text or not (text.isascii() and text.isdigit()):
        return False
    digits = [int(letter) for letter in reversed(text)]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _translated(text: str, old: str, new: str) -> str:
    table: dict[int, str | None] = {}
    for place, letter in enumerate(old):
        table.setdefault(ord(letter), new[place] if place < len(new) else None)
    return text.translate(table)


def _code(text: str) -> int:
    return ord(text[0]) if text else 0


TEXT_VALUES: dict[str, Function] = {
    "substring": per_value(_part),
    "left": per_value(lambda text, count: text[: max(0, count)]),
    "right": per_value(_right),
    "trim": per_value(lambda text, characters=" ": text.strip(characters) if characters else text),
    "ltrim": per_value(lambda text, characters=" ": text.lstrip(characters)),
    "rtrim": per_value(lambda text, characters=" ": text.rstrip(characters)),
    "replace": per_value(_replace),
    "translate": per_value(_translated),
    "space": per_value(lambda count: " " * count),
    "lpad": per_value(lambda *parts: _pad(*parts, is_left=True)),
    "rpad": per_value(lambda *parts: _pad(*parts, is_left=False)),
    "overlay": per_value(_overlay),
    "split_part": per_value(_split_part),
    "substring_index": per_value(_substring_index),
    "initcap": per_value(_title),
    "soundex": per_value(soundex),
    "quote": per_value(_quoted),
    "mask": per_value(_mask_of_any, takes_null=True),
    "chr": per_value(_character),
    "elt": per_value(_chosen, takes_null=True),
    "ascii": per_value(_code),
    "instr": per_value(lambda text, part: text.find(part) + 1),
    "locate": per_value(_locate, takes_null=True),
    "find_in_set": per_value(_in_set),
    "levenshtein": per_value(levenshtein),
    "jaro_winkler_similarity": per_value(jaro_winkler),
    "contains": per_value(lambda text, part: part in text),
    "startswith": per_value(lambda text, part: text.startswith(part)),
    "endswith": per_value(lambda text, part: text.endswith(part)),
    "luhn_check": per_value(_is_luhn),
}
