"""Rows of a result with their expiry: what comes and goes, and when."""
