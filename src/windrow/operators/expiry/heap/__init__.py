"""A binary heap of rows."""
