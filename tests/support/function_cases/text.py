"""Cases of the functions of text."""

from __future__ import annotations

TEXT: tuple[str, ...] = (
    *("lower(t)", "upper(t)", "lcase(u)", "ucase(u)", "length(t)", "char_length(t)", "len(u)"),
    *("character_length(t)", "concat(t, u)", "concat(t, i, p)", "concat(t)", "t || u", "trim(t)"),
    *("substring(t, 2, 3)", "substring(t, -3)", "substring(t, m, 2)", "substr(t, i, m)"),
)
