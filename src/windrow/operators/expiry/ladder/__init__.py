"""Ladder queues, with branch lists and without."""
