"""Rows of a batch made ready: checked, filtered, expressions evaluated, shared between queries."""
