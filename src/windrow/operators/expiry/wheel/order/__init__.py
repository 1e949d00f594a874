"""Rows of a few slots brought into order."""
