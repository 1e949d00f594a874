"""Aggregates over acyclic joins of several windows: sums that pass along a tree of views."""
