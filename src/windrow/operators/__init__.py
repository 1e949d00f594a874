"""Aggregates over windows and over joins of windows, kept up to date row by row."""
