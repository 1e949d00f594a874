"""Rows in the order of their groups."""
