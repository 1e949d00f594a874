"""Coarse tails of joins: rows by pane of time and key, and what an answer from them can lack."""
