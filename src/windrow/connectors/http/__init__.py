"""Rows that programs send to `windrow serve`, by POST."""
