"""Cases of the functions of text."""

from __future__ import annotations

TEXT: tuple[str, ...] = (
    *("lower(t)", "upper(t)", "lcase(u)", "ucase(u)", "length(t)", "char_length(t)", "len(u)"),
    *("character_length(t)", "concat(t, u)", "concat(t, i, p)", "concat(t)", "t || u", "trim(t)"),
    *("substring(t, 2, 3)", "substring(t, -3)", "substring(t, m, 2)", "substr(t, i, m)"),
    *("initcap(t)", "octet_length(t)", "bit_length(t)", "concat_ws('-', t, u, i)"),
    *("concat_ws(u, t, w)", "concat_ws(u)", "concat_ws(',', t)", "left(t, 2)", "left(t, m)"),
    *("right(t, 2)", "right(t, m)", "btrim(t)", "btrim(t, 'a')", "btrim(t, u)", "ltrim(t)"),
    *("rtrim(t)", "ltrim(u, t)", "rtrim('o', t)", "trim(u, t)", "replace(t, 'o', '0')"),
    *("replace(t, u)", "replace(t, u, 'X')", "replace(t, '', 'x')", "translate(t, 'aeo', 'AE')"),
    *("translate(t, u, w)", "reverse(t)", "repeat(t, 2)", "repeat(u, m)", "space(m)"),
    *("lpad(t, 6)", "lpad(t, m, u)", "rpad(t, 6, 'xy')", "rpad(t, m, u)", "lpad(t, 4, '')"),
    *("overlay(t, 'XY', 2)", "overlay(t, u, m)", "overlay(t, u, m, 2)", "overlay(t, u, 3, m)"),
    *("split_part(t, 'o', 2)", "split_part(t, u, m)", "split_part(t, ',', -1)"),
    *("substring_index(t, 'o', 1)", "substring_index(t, u, m)", "substring_index(t, 'a', -2)"),
    *("soundex(t)", "soundex('Ashcraft')", "soundex('Tymczak')", "soundex(u)", "quote(t)"),
    *("mask(t)", "mask(t, 'A', 'b')", "mask(t, NULL, NULL, '#', '*')", "chr(i)", "char(k)"),
    *("elt(m, t, u, w)", "elt(1, t)", "validate_utf8(t)", "make_valid_utf8(t)"),
    *("try_validate_utf8(t)", "is_valid_utf8(t)", "ascii(t)", "ascii(u)", "instr(t, u)"),
    *("instr(t, 'o')", "locate(u, t)", "locate('o', t, m)", "locate(u, t, i)", "position('a', t)"),
    *("position(u, t, 2)", "find_in_set(u, t)", "find_in_set('b', 'a,b,c')", "find_in_set(u, u)"),
    *("levenshtein(t, u)", "levenshtein(t, 'hello')", "levenshtein(t, u, 3)"),
    *("jaro_winkler_similarity(t, u)", "jaro_winkler_similarity(t, 'hello world')"),
    *("contains(t, u)", "contains(t, 'o')", "startswith(t, u)", "startswith(t, 'a')"),
    *("endswith(t, u)", "endswith(t, 'o')", "luhn_check(w)", "luhn_check(t)"),
    *("substring(t FROM 2 FOR 3)", "substring(t FROM m)", "position('o' IN t)"),
    *(
        "trim(BOTH 'a' FROM t)",
        "trim(LEADING FROM t)",
        "trim(TRAILING u FROM t)",
        "trim(BOTH FROM t)",
    ),
    *("overlay(t PLACING 'XY' FROM 2)", "overlay(t PLACING u FROM 2 FOR 1)", "trim('a' FROM t)"),
)
