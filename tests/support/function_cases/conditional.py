"""Cases of choices between values, and of NULL."""

from __future__ import annotations

CONDITIONAL: tuple[str, ...] = (
    *("coalesce(x, y, 0)", "coalesce(t, u)", "nvl(i, m)", "ifnull(t, '-')", "nullif(m, 2)"),
    *("nullif(x, y)", "if(b, t, u)", "if(x > y, i, m)", "least(x, y)", "greatest(x, y, 1.0D)"),
    *("try_add(k, k)", "try_subtract(k, i)", "try_multiply(k, k)", "try_divide(x, y)"),
    *("try_divide(k, i)", "try_mod(k, i)", "try_mod(x, y)"),
    *("least(i, m, 3)", "greatest(t, u)", "least(p, q)", "greatest(b, TRUE)"),
)
