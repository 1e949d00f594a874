"""Batches of rows turned into leaves."""
