"""The experiments on window sizes under a memory budget."""
