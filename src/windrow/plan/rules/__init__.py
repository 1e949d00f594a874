"""Rewrites of a bound plan, one rule a file; pipeline.py has them in their order."""
