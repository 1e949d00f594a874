"""Window sizes under a memory budget: pure functions over two tables."""
