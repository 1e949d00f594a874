"""Cases of the functions of numbers and bits."""

from __future__ import annotations

_OF_DOUBLES = (
    *("sqrt", "cbrt", "exp", "expm1", "ln", "log", "log10", "log2", "log1p", "sin", "cos", "tan"),
    *("cot", "sec", "csc", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh"),
    *("atanh", "degrees", "radians", "rint", "sign", "signum"),
)

MATHS: tuple[str, ...] = (
    *("abs(i)", "abs(x)", "abs(p)", "abs(k)", "ceil(x)", "ceiling(p)", "ceil(k)", "floor(x)"),
    *("floor(q)", "signum(k)", "sqrt(p)", "exp(m)"),
    *("round(x, 2)", "round(x)", "round(p, 1)", "round(q, -1)", "round(k, -1)", "round(x, -2)"),
    *("bround(x, 2)", "bround(x)", "bround(p, 1)", "bround(q, -1)", "bround(k, -1)", "bround(p)"),
    *(f"{name}(x)" for name in _OF_DOUBLES),
    *("log(y, x)", "log(2, k)", "power(x, y)", "pow(i, m)", "atan2(x, y)", "hypot(x, y)"),
    *("pi()", "e()", "mod(k, m)", "mod(x, y)", "mod(p, q)", "mod(i, m)", "k % j", "k DIV m"),
    *("pmod(k, j)", "pmod(i, m)", "pmod(x, y)", "pmod(p, q)", "pmod(k, -7)", "pmod(p, 3)"),
    *("negative(k)", "negative(x)", "negative(p)", "positive(k)", "positive(p)", "-x"),
    *("try_add(k, j)", "try_subtract(k, j)", "try_multiply(k, j)", "try_divide(k, j)"),
    *("try_mod(k, j)", "try_add(x, y)", "try_divide(x, y)", "try_divide(p, q)", "try_add(p, q)"),
    *("factorial(m)", "factorial(i)", "width_bucket(x, 0, 10, 5)", "width_bucket(x, y, 3, m)"),
    *("width_bucket(x, 10, -10, k)", "bin(k)", "bin(m)", "conv(w, 10, 16)", "conv(w, 16, 10)"),
    *("conv(w, 16, -10)", "conv(w, 36, -2)", "conv(k, 10, m)", "conv(t, i, m)", "conv(w, 10, -16)"),
    *("bit_count(i)", "bit_count(k)", "bit_get(k, m)", "getbit(i, i)", "shiftleft(i, m)"),
    *("shiftleft(k, i)", "shiftright(i, m)", "shiftright(k, i)", "shiftrightunsigned(i, m)"),
    *("shiftrightunsigned(k, i)", "i & m", "k | j", "i ^ k", "~k", "i | m & 3 ^ ~m", "k & 255"),
    *("i << m", "k >> m", "k >>> 2", "1 + m & 3 << 1"),
)
