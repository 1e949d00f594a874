"""LIKE, and regular expressions by RE2: Arrow's kernels, once for each different pattern."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from windrow.rows.scalar.by_constants import by_constants
from windrow.rows.scalar.values import Checked, Function, NoValueError, map_distinct
from windrow.scalar_functions.java_regexp import (
    PatternError,
    Translated,
    replacement_of,
    translate,
)

__all__ = ["PATTERNS"]

_PRIVATE = 0xF0000  # characters without a meaning, to mark places in a text
_MARKS = 64
_PLAIN = re.compile(r"[\w ,;:/=&%@#'-]+")  # a pattern that stands for itself


def _like(column: pa.Array, pattern: str, escape: str = "\\") -> pa.Array:
    return pc.match_like(column, _arrow_like(pattern, escape))


@lru_cache(1_000)
def _arrow_like(pattern: str, escape: str) -> str:
    """The pattern with a backslash as its escape; what an escape means nothing to is an error."""
    found, at = "", 0
    while at < len(pattern):
        letter = pattern[at]
        if letter == escape:
            following = pattern[at + 1 : at + 2]
            if following not in ("%", "_", escape) or not following:
                raise NoValueError
            found += following if following not in "%_\\" else f"\\{following}"
            at += 2
        else:
            found += "\\\\" if letter == "\\" else letter
            at += 1
    return found


@lru_cache(1_000)
def _translated(pattern: str, match_only: bool = False) -> Translated:
    try:
        found = translate(pattern, match_only=match_only)
        pc.match_substring_regex(pa.array([""]), found.pattern)
    except (PatternError, pa.ArrowInvalid):
        raise NoValueError from None
    return found


def _is_matched(column: pa.Array, pattern: str) -> pa.Array:
    return pc.match_substring_regex(column, _translated(pattern, True).pattern)


def _count(column: pa.Array, pattern: str) -> pa.Array:
    known = _translated(pattern)
    if not _looks_around(pattern):
        return pc.count_substring_regex(column, known.pattern)
    # Arrow's own count begins anew behind each match, where ^ matches once more.
    mark, _ = _unused(column)
    marked = pc.replace_substring_regex(column, known.pattern, mark)
    return pc.count_substring(marked, mark)


@lru_cache(1_000)
def _looks_around(pattern: str) -> bool:
    """Whether a match may depend on what stands beside it, or be empty."""
    if any(sign in pattern for sign in ("^", "\\b", "\\B", "\\A")):
        return True
    return bool(pc.match_substring_regex(pa.scalar(""), _translated(pattern).pattern).as_py())


def _extract(column: pa.Array, pattern: str, group: int = 1) -> pa.Array | Checked:
    """What a group of the first match holds; an empty text without a match."""
    known = _translated(pattern)
    if not 0 <= group <= known.groups:
        return _without_group(column, known, "", pa.string())
    found = pc.struct_field(pc.extract_regex(column, f"(?P<g0>{known.pattern})"), [group])
    return pc.if_else(pc.is_valid(column), pc.coalesce(found, pa.scalar("")), column)


def _without_group(column: pa.Array, known: Translated, empty: Any, kind: pa.DataType) -> Checked:
    """A group that the pattern has not: an error, but only where it matches."""
    matched = pc.fill_null(pc.match_substring_regex(column, known.pattern), False)
    faults = matched.to_numpy(zero_copy_only=False)
    values = [None if text is None else empty for text in column.to_pylist()]
    return Checked(pa.array(values, kind), faults if faults.any() else None)


def _substring(column: pa.Array, pattern: str) -> pa.Array:
    found = _extract(column, pattern, 0)
    return pc.if_else(pc.equal(found, ""), pa.scalar(None, pa.string()), found)


def _extract_all(column: pa.Array, pattern: str, group: int = 1) -> pa.Array | Checked:
    """That group of all matches: they are put between marks, and cut out there."""
    known = _translated(pattern)
    if not 0 <= group <= known.groups:
        return _without_group(column, known, [], pa.list_(pa.string()))
    begin, end = _unused(column)
    marked = pc.replace_substring_regex(column, known.pattern, f"{begin}\\{group}{end}")

    def cut(text: str | None) -> list[str] | None:
        if text is None:
            return None
        return [part.partition(end)[0] for part in text.split(begin)[1:]]

    return map_distinct(marked, cut, pa.list_(pa.string()))


def _unused(column: pa.Array) -> tuple[str, str]:
    """Two characters that no text of the column has."""
    free = (chr(_PRIVATE + number) for number in range(_MARKS))
    found = [
        mark for mark in free if not pc.any(pc.match_substring(column, mark), min_count=0).as_py()
    ]
    if len(found) < 2:
        raise NoValueError
    return found[0], found[1]


def _position(column: pa.Array, pattern: str, _group: int = 0) -> pa.Array:
    begin, _ = _unused(column)
    known = _translated(pattern)
    marked = pc.replace_substring_regex(column, known.pattern, begin, max_replacements=1)
    return map_distinct(
        marked, lambda text: None if text is None else text.find(begin) + 1, pa.int32()
    )


def _replace(column: pa.Array, pattern: str, new: str, start: int = 1) -> pa.Array:
    known = _translated(pattern)
    replacement = replacement_of(new, known.groups)
    if replacement is None or start < 1:
        raise NoValueError
    if start == 1:
        return pc.replace_substring_regex(column, known.pattern, replacement)
    head = pc.utf8_slice_codeunits(column, 0, start - 1)
    tail = pc.utf8_slice_codeunits(column, start - 1)
    changed = pc.replace_substring_regex(tail, known.pattern, replacement)
    return pc.binary_join_element_wise(head, changed, "")


def _split(column: pa.Array, pattern: str, limit: int = -1) -> pa.Array:
    most = limit - 1 if limit > 0 else -1
    if not pattern:
        return map_distinct(column, lambda text: _letters(text, most), pa.list_(pa.string()))
    if most == 0:
        return map_distinct(
            column, lambda text: None if text is None else [text], pa.list_(pa.string())
        )
    if _PLAIN.fullmatch(pattern):
        return pc.split_pattern(column, pattern, max_splits=None if most < 0 else most)
    known = _translated(pattern)
    begin, _ = _unused(column)
    marked = pc.replace_substring_regex(column, known.pattern, begin, max_replacements=most)
    return pc.split_pattern(marked, begin)


def _letters(text: str | None, most: int) -> list[str] | None:
    if text is None:
        return None
    if not text or most == 0:
        return [text]
    end = len(text) if most < 0 else min(most, len(text))
    rest = [text[end:]] if end < len(text) else []
    return [*text[:end], *rest]


PATTERNS: dict[str, Function] = {
    "like": by_constants(_like),
    "regexp_like": by_constants(_is_matched),
    "regexp_count": by_constants(_count),
    "regexp_extract": by_constants(_extract),
    "regexp_extract_all": by_constants(_extract_all),
    "regexp_instr": by_constants(_position),
    "regexp_replace": by_constants(_replace),
    "regexp_substr": by_constants(_substring),
    "split": by_constants(_split),
}
