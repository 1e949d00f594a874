"""Statements and a catalog in, a bound, typed, frozen plan out; silent about how anything runs."""
