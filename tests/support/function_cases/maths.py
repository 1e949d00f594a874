"""Cases of the functions of numbers and bits."""

from __future__ import annotations

MATHS: tuple[str, ...] = (
    *(
        "abs(i)",
        "abs(x)",
        "abs(p)",
        "abs(k)",
        "ceil(x)",
        "ceiling(p)",
        "ceil(k)",
        "floor(x)",
        "floor(q)",
    ),
    *("round(x, 2)", "round(x)", "round(p, 1)", "round(q, -1)", "round(k, -1)", "round(x, -2)"),
    *("sqrt(x)", "exp(x)", "sign(x)", "signum(k)", "ln(x)", "power(x, y)", "pow(i, m)"),
)
