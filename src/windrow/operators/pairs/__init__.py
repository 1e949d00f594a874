"""Aggregates of joins that look at every joined row: pipelined, incremental and charged."""
