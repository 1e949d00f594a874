"""Rows in memory: columns that append at the tail and expire at the head, keys as dense codes."""
