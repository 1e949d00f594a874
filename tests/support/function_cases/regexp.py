"""Cases of LIKE and of regular expressions."""

from __future__ import annotations

_PATTERNS = ("[a-z]+", "(o+)(.?)", "^[A-Z]", "o$", "\\\\d+", "(l|o)+?", "\\\\s", "", "a|b|é", ".")

REGEXP: tuple[str, ...] = (
    *("t LIKE 'a%'", "t LIKE '%o_l%'", "t LIKE u", "t LIKE concat('%', u, '%')", "t NOT LIKE '_'"),
    *("t LIKE '%!%' ESCAPE '!'", "t LIKE '%/_%' ESCAPE '/'", "t ILIKE 'H%'", "t ILIKE '%É%'"),
    *("t ILIKE u", "like(t, 'a%')", "ilike(t, 'A%')", "t LIKE '%\\\\%'", "t LIKE '%%b%'"),
    *(f"t RLIKE '{pattern}'" for pattern in _PATTERNS),
    *("t REGEXP 'o+'", "rlike(t, u)", "regexp(t, '[aeiou]')", "regexp_like(t, 'l{2}')"),
    *(
        "t RLIKE '(?i)HELLO'",
        "t RLIKE '\\\\p{L}+$'",
        "t RLIKE '\\\\w+\\\\W\\\\w+'",
        "t NOT RLIKE 'a'",
    ),
    *(f"regexp_count(t, '{pattern}')" for pattern in _PATTERNS),
    *(f"regexp_extract(t, '{pattern}', 0)" for pattern in _PATTERNS),
    *("regexp_extract(t, '(o+)(.?)', 2)", "regexp_extract(t, '(\\\\w)(\\\\w)')"),
    *("regexp_extract(t, '(a)|(b)', 2)", "regexp_extract(t, '(x)', m)", "regexp_extract(t, u, 0)"),
    *(f"regexp_extract_all(t, '{pattern}', 0)" for pattern in _PATTERNS[:7]),
    *("regexp_extract_all(t, '(\\\\w)(\\\\w)')", "regexp_extract_all(t, '(l+)o?', 1)"),
    *(f"regexp_instr(t, '{pattern}')" for pattern in _PATTERNS),
    *(f"regexp_substr(t, '{pattern}')" for pattern in _PATTERNS),
    *(f"regexp_replace(t, '{pattern}', '<>')" for pattern in _PATTERNS),
    *("regexp_replace(t, '(\\\\w)(\\\\w)', '$2$1')", "regexp_replace(t, u, 'X')"),
    *("regexp_replace(t, 'o', '\\\\$')", "regexp_replace(t, 'o', '0', 3)"),
    *("regexp_replace(t, 'o', u)", "split(t, ',')", "split(t, 'o')", "split(t, '')"),
    *(
        "split(t, '[ ,]+')",
        "split(t, ',', 2)",
        "split(t, 'o', -1)",
        "split(t, u)",
        "split(t, '', 3)",
    ),
    *("split(t, 'l', m)", "split(t, '\\\\s')"),
)
