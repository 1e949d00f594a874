"""Cases of choices between values, and of NULL."""

from __future__ import annotations

CONDITIONAL: tuple[str, ...] = (
    *("coalesce(x, y, 0)", "coalesce(t, u)", "nvl(i, m)", "ifnull(t, '-')", "nullif(m, 2)"),
    *("nullif(x, y)", "if(b, t, u)", "if(x > y, i, m)", "least(x, y)", "greatest(x, y, 1.0D)"),
    *("least(i, m, 3)", "greatest(t, u)", "least(p, q)", "greatest(b, TRUE)"),
    *("nvl2(i, t, u)", "nvl2(x, m, p)", "nullifzero(m)", "nullifzero(x)", "zeroifnull(m)"),
    *("zeroifnull(x)", "isnull(t)", "isnotnull(x)", "equal_null(m, i)", "equal_null(x, y)"),
    *("isnan(x)", "isnan(i)", "nanvl(x, y)", "typeof(t)", "typeof(p)", "typeof(x)", "typeof(k)"),
    *("assert_true(b)", "assert_true(m > 1, t)", "raise_error(t)", "if(b, i, raise_error('x'))"),
    *("decode(m, 1, 'one', 2, 'two', 'many')", "decode(m, NULL, 'none', 0, t)"),
    *("boolean(m)", "tinyint(m)", "smallint(x)", "int(w)", "bigint(w)", "double(w)", "float(i)"),
    *("decimal(p)", "string(i)", "string(p)", "int(p)"),
)
