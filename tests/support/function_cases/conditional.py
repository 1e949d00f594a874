"""Cases of choices between values, and of NULL."""

from __future__ import annotations

CONDITIONAL: tuple[str, ...] = (
    *("coalesce(x, y, 0)", "coalesce(t, u)", "nvl(i, m)", "ifnull(t, '-')", "nullif(m, 2)"),
    *("nullif(x, y)", "if(b, t, u)", "if(x > y, i, m)", "least(x, y)", "greatest(x, y, 1.0D)"),
    *("least(i, m, 3)", "greatest(t, u)", "least(p, q)", "greatest(b, TRUE)"),
)
