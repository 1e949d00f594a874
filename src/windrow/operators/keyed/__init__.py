"""Aggregates over one window, or over two that join by keys: a state per key, cell and group."""
