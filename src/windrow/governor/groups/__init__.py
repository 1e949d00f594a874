"""Serial adjusting groups: windows that take turns, so that they share memory to grow into."""
