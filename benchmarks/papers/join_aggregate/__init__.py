"""Paper 1: joins with aggregates, kept by four algorithms."""
