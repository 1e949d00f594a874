"""Scalar functions over whole columns: one family a file; evaluate.py calls them by name."""
